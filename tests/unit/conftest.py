import os

# The tensors here are small. With several test processes, or other work on the machine, more threads than cores wait
# for one another: the same tests then take many times longer.
os.environ.setdefault("OMP_NUM_THREADS", "1")

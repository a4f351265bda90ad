"""Wang, Shen, Hu, Cao 2021: what a wide Elman network provably learns."""

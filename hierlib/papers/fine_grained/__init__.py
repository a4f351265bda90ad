"""Arora, Du, Hu, Li, Wang 2019: two-layer ReLU networks and the Gram matrix H_inf."""

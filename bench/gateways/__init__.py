"""Gateways in front of one server, each a program of its own, for bench/gateway.py."""

"""Whole programs that connect over stdio, list the tools and exit; cold_start.py runs them."""

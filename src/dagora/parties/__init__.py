"""Data that stay with their owners: how parties exchange messages, and what they compute together."""

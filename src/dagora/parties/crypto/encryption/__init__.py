"""Encryption that can add: Paillier and Ring-LWE."""

"""Additively homomorphic encryption: Paillier and Ring-LWE."""

"""Tagged messages between parties, in memory or over TLS, with certificates and a ledger of bytes."""

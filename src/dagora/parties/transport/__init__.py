"""How parties exchange messages: tagged, in memory or over TLS, with certificates and a ledger of bytes."""

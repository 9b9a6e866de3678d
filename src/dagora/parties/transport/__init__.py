"""How parties talk: tagged messages in memory or over TLS, certificates, a ledger of bytes."""

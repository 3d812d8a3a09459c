"""Many servers behind one endpoint: names, views, catalog, router, and the inbound endpoints."""

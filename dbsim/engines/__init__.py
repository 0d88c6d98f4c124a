"""Work in a database: connections, transactions, bulk reading; sqlite/ and postgresql/ have what differs."""

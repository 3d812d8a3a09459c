#!/bin/sh
# Makes a certificate authority and a certificate for localhost in a folder, unless they are there.
set -eu
folder=${1:-/certificates}
cd "$folder"
[ -s haproxy.pem ] && exit 0
openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=mcplens test authority" \
  -keyout ca.key -out ca.pem 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj "/CN=localhost" -keyout server.key -out server.csr 2>/dev/null
echo "subjectAltName=DNS:localhost,DNS:mcp.localhost,DNS:id.localhost" > names
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 \
  -extfile names -out server.pem 2>/dev/null
cat server.pem server.key > new.pem
rm ca.key server.csr server.key names
# HAProxy and the gateways run as users of their own.
chmod 644 new.pem ca.pem
mv new.pem haproxy.pem

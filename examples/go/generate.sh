#!/bin/sh
# Generates the client's messages with protoc (Debian and Ubuntu: apt-get install protobuf-compiler). The plug-ins are
# tools of go.mod.
set -eu
cd "$(dirname "$0")"
module=example.com/oarlock-client
file=oarlock/v1/cryptoserver.proto
protoc -I ../../crates/io/wire/proto \
  --plugin=protoc-gen-go="$(go tool -n protoc-gen-go)" \
  --plugin=protoc-gen-go-grpc="$(go tool -n protoc-gen-go-grpc)" \
  --go_out=. --go_opt=module=$module --go_opt=M$file=$module/oarlockv1 \
  --go-grpc_out=. --go-grpc_opt=module=$module --go-grpc_opt=M$file=$module/oarlockv1 \
  $file

// Command peer is a TLS client or server of Go's standard library, with its default groups.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
)

var groups = map[string]tls.CurveID{
	"X25519MLKEM768":     tls.X25519MLKEM768,
	"SecP256r1MLKEM768":  tls.SecP256r1MLKEM768,
	"SecP384r1MLKEM1024": tls.SecP384r1MLKEM1024,
	"X25519":             tls.X25519,
	"P-256":              tls.CurveP256,
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func main() {
	names := flag.String("groups", "", "the groups, separated by commas; none for Go's default")
	authority := flag.String("authority", "", "the file of the certificate that the server must have")
	certificate := flag.String("certificate", "", "the file of a server's own certificate")
	key := flag.String("key", "", "the file of its key")
	smtp := flag.Bool("smtp", false, "start TLS inside of SMTP")
	connect := flag.String("connect", "", "the address to connect to; without one, serve two connections")
	flag.Parse()
	config := &tls.Config{ServerName: "localhost"}
	if *names != "" {
		for _, name := range strings.Split(*names, ",") {
			config.CurvePreferences = append(config.CurvePreferences, groups[name])
		}
	}
	if *connect == "" {
		serve(config, *certificate, *key)
		return
	}
	pem, err := os.ReadFile(*authority)
	check(err)
	config.RootCAs = x509.NewCertPool()
	config.RootCAs.AppendCertsFromPEM(pem)
	plain, err := net.Dial("tcp", *connect)
	check(err)
	if *smtp {
		startTLS(plain)
	}
	client := tls.Client(plain, config)
	check(client.Handshake())
	state := client.ConnectionState()
	fmt.Println("group", state.CurveID, "retry", state.HelloRetryRequest)
	if !*smtp {
		fmt.Fprint(client, "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
		said, err := io.ReadAll(client)
		check(err)
		fmt.Println(string(said))
	}
}

func startTLS(plain net.Conn) {
	lines := bufio.NewReader(plain)
	for _, line := range []string{"", "EHLO localhost\r\n", "STARTTLS\r\n"} {
		fmt.Fprint(plain, line)
		for {
			answer, err := lines.ReadString('\n')
			check(err)
			if len(answer) < 4 || answer[3] != '-' {
				break
			}
		}
	}
}

func serve(config *tls.Config, certificate, key string) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	check(err)
	config.Certificates = []tls.Certificate{pair}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	check(err)
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	for range 2 {
		plain, err := listener.Accept()
		check(err)
		server := plain.(*tls.Conn)
		if err := server.Handshake(); err != nil {
			fmt.Println("failed", err)
			continue
		}
		fmt.Println("group", server.ConnectionState().CurveID)
		bufio.NewReader(server).ReadString('\n')
		fmt.Fprint(server, "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello")
		server.Close()
	}
}

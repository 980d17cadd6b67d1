import Testing

@testable import Broker
@testable import Threadkeeper

@Suite("What commands print and take") struct CommandTests {
  @Test("Columns are aligned, lines have no white space at their end") func alignment() {
    let table = Table(["Name", "State", "Since"], [["Küche", "online", ""], ["x", "", "yesterday"]])
    #expect(
      table.text(style: .plain) == """
        Name   State   Since
        Küche  online
        x              yesterday

        """)
  }

  @Test("The header is bold where the style is on, and only there") func header() {
    let table = Table(["A"], [["b"]])
    #expect(table.text(style: TerminalStyle(isOn: true)) == "\u{1B}[1mA\u{1B}[0m\nb\n")
  }

  @Test(
    "What could command a terminal is escaped, everything else is left alone",
    arguments: [
      ("a\u{1B}[2J", #"a\u{1b}[2J"#), ("line\nline", #"line\u{a}line"#), ("\u{7F}", #"\u{7f}"#),
      ("\u{9B}31m", #"\u{9b}31m"#), ("a\u{202E}b", #"a\u{202e}b"#), ("\r\n", #"\u{d}\u{a}"#),
      ("Küche 日本 👨‍👩‍👧", "Küche 日本 👨‍👩‍👧"), ("", ""),
    ]) func printable(text: String, shown: String)
  { #expect(text.printable == shown) }

  @Test("A failure says what went wrong and what to do") func failure() {
    let failure = CommandFailure(.unavailable, "no broker at 1.2.3.4", remedy: "start it")
    #expect(failure.text(style: .plain) == "error: no broker at 1.2.3.4\nhelp: start it\n")
    #expect(CommandFailure(.software, "x").text(style: .plain) == "error: x\n")
  }

  @Test(
    "One line end at the end of standard input is not part of the password",
    arguments: [
      ("one", "one"), ("one\n", "one"), ("one\r\n", "one"), ("one\n\n", "one\n"), ("one\r", "one\r"),
      (" one ", " one "), ("\n", ""), ("", ""),
    ]) func lineEnd(text: String, password: String)
  { #expect(Password.withoutLineEnd(Array(text.utf8)).elementsEqual(password.utf8)) }

  @Test("A store that another has is tried for, and a daemon that ends in the middle asked again") func orStore()
    async throws
  {
    let locked = CommandFailure(.temporary, "locked")
    var asked = 0
    let kept = try await DaemonClient.orStore(isRepeatable: true, within: .seconds(3_600)) { () -> String? in
      asked += 1
      if asked == 1 { throw DaemonClient.Ended() }
      return asked == 4 ? "kept" : nil
    } store: {
      throw locked
    }
    #expect(kept == "kept")
    // What must not be done twice is not.
    asked = 0
    let failure = await #expect(throws: CommandFailure.self) {
      try await DaemonClient.orStore(isRepeatable: false) { () -> String? in
        asked += 1
        throw DaemonClient.Ended()
      } store: {
        "stored"
      }
    }
    #expect(asked == 1)
    #expect(failure?.status == .temporary)
    #expect(failure?.remedy?.contains("status") == true)
  }

  @Test("What a client reports of its broker names the command's options, and no setting of a daemon")
  func brokerWords() {
    let plain = MosquittoConfiguration(host: "broker.local", port: 1883, clientID: "phone")
    var encrypted = plain
    encrypted.tls = .init(caFile: "/etc/ca.pem")
    var errors = ["certificate required", "certificate verify failed", "host name verification failed"].map {
      MosquittoError(tlsLog: [$0], encrypted)
    }
    errors += [9, 10, 18, 19, 20].map { .certificate(CertificateFailure(code: $0, words: "reason"), encrypted) }
    for broker in [plain, encrypted] {
      errors += [111, 110, 113].map { MosquittoError(result: 14, errno: $0, answered: false, log: [], broker) }
      errors += [0x86, 0x84, 0x99, 0x9D].map { MosquittoError(connack: $0, broker) }
      errors += [
        MosquittoError(result: 2, errno: 0, answered: true, log: [], broker), .noAnswer(broker),
        .closedBeforeAnswer(broker.host, broker), .untrustedListener(1000, broker), .unknownListener(broker),
      ]
    }
    for words in errors.map(BrokerOptions.words) {
      #expect(!words.contains("mqtt.") && !words.contains("threadkeeper login"), "\(words)")
    }
    #expect(BrokerOptions.words(.init(connack: 0x86, plain)).contains("`--username` and `--password-file`"))
  }
}

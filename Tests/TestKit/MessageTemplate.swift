import ThreadRequests

/// Messages of one kind, made of its fields: right ones, and what can be wrong with each field and with the whole.
package struct MessageTemplate {
  /// With their values as JSON.
  package typealias Fields = KeyValuePairs<String, String>

  private typealias Field = (name: String, json: String)

  private let fields: [Field]
  private let needs: Set<String>

  /// - Parameter needs: fields without which it is refused.
  package init(_ fields: Fields, needs: Set<String> = []) {
    self.fields = fields.map { ($0, $1) }
    self.needs = needs
  }

  /// A request.
  ///
  /// - Parameters:
  ///   - dataset: as hex.
  ///   - more: that each request may have on its wire.
  package init(_ command: RequestCommand, dataset: String, _ more: Fields = [:]) {
    let agent = ("border_agent_id", #""A1B2C3D4E5F60718""#)
    let network = ("ext_pan_id", #""1111111122222222""#)
    let dataset = ("dataset", "\"\(dataset)\"")
    let (needed, others): ([Field], [Field]) =
      switch command {
      case .storeCredentials: ([agent, dataset], [])
      case .deleteCredentials, .getCredentials, .askConsent: ([agent], [])
      case .getNetwork, .shareCredentials, .forgetNetwork: ([network], [])
      case .checkPreferred: ([dataset], [])
      case .setPreferred: ([network], [agent, ("token", #""0a""#)])
      case .approveConsent, .denyConsent:
        ([("id", #""c-00000000000000ff""#)], [("scope", #""always""#), ("token", #""0a""#)])
      case .getPreferred: ([], [("purpose", #""write""#)])
      case .ping, .listCredentials, .listActiveCredentials, .nearbyNetworks, .isPreferredAvailable, .forgetPreferred,
        .pendingConsents, .listRouters, .listNetworks, .listAlerts, .testAlerts, .confirmAlerts:
        ([], [])
      }
    fields = needed + others + more.map { ($0, $1) }
    needs = Set(needed.map(\.name))
  }

  /// What is not as it should be, by the first character of what it should be.
  private static let odd: [Character: [String]] = [
    "\"": [
      "null", "1", "{}", "\"\"", #""x""#, "\"\(String(repeating: "a", count: 129))\"",
      "\"\(String(repeating: "a", count: 513))\"", #""\u00e9\n\"\\\/\ud83d\ude00""#, #""\ud800""#,
    ],
    "1": [
      "null", #""1""#, "0", "01", "-1", "-0", "1.5", "1e2", "4294967295", "4294967296", "18446744073709551615",
      "18446744073709551616", "[]",
    ], "t": ["null", "false", "1", #""true""#, "{}"], "{": ["null", "{}", "[]", "1", #""x""#],
  ]

  private static func object(_ fields: some Sequence<Field>, _ comma: String = ",") -> String {
    "{\(fields.map { "\"\($0.name)\":\($0.json)" }.joined(separator: comma))}"
  }

  private var least: String { Self.object(fields.filter { needs.contains($0.name) }) }

  /// Right ones, and those where one field is wrong.
  package var ofFields: [[UInt8]] {
    let whole = Self.object(fields)
    var texts = [
      least, whole, Self.object(fields.reversed()), " \t\(Self.object(fields, "\r\n , "))\n",
      Self.object(fields + [("x", #"{"a":[1,-2.5e3,null,true,"\u00e9"]}"#)]),
    ]
    if let first = fields.first {
      texts.append(Self.object(fields + [(first.name, "1")]))
      texts.append(Self.object([(first.name, "null")] + fields))
      texts.append(Self.object([("\\u00\(Self.hex(first.name))", first.json)] + fields.dropFirst()))
    }
    for field in fields {
      let others = fields.filter { $0.name != field.name }
      if needs.contains(field.name) { texts.append(Self.object(others)) }
      let needed = others.filter { needs.contains($0.name) }
      for json in Self.odd[field.json.first ?? "{"] ?? [] { texts.append(Self.object(needed + [(field.name, json)])) }
    }
    return texts.map { Array($0.utf8) }
  }

  /// A name with its first letter escaped.
  private static func hex(_ name: String) -> String {
    (name.utf8.first.map { String($0, radix: 16) } ?? "") + name.dropFirst()
  }

  /// Those that are wrong whatever their fields are.
  package var ofWhole: [[UInt8]] {
    let whole = Self.object(fields)
    let start = least.count > 2 ? "\(least.dropLast())," : "{"
    func nested(_ depth: Int) -> String {
      let open = String(repeating: "[", count: depth)
      return "\(start)\"x\":\(open)\(String(repeating: "]", count: depth))}"
    }
    func padded(_ count: Int) -> String { least + String(repeating: " ", count: count - least.utf8.count) }
    let texts = [
      "", " ", "null", "[]", "1", "\"x\"", "{", "{}", "}", "\(least.dropLast())", "\(least)x", "\(least)\(least)",
      "\u{FEFF}\(least)", "\(start)}", "\(start)\"x\"}", "\(start)x:1}", "\(start)\"x\":'y'}", "\(start)\"x\":NaN}",
      "\(start)\"x\":\"\n\"}", "\(start)\"x\":\"\\x\"}", "{,\(least.dropFirst())", nested(7), nested(8), nested(40),
      padded(16_384), padded(16_385), String(whole.prefix(whole.count / 2)),
    ]
    let others: [[UInt8]] = [[0xFF], [0xC0, 0xAE], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0]]
    return texts.map { Array($0.utf8) } + others.map { Array("\(start)\"x\":\"".utf8) + $0 + Array("\"}".utf8) }
  }

  /// As one line: a byte that is no plain character as hex, and how often one comes that is repeated often.
  ///
  /// - Parameter names: of long texts, which stand in their place.
  package static func line(_ message: [UInt8], _ names: KeyValuePairs<String, String>) -> String {
    var line = ""
    var rest = message[...]
    while let byte = rest.first {
      let count = rest.prefix { $0 == byte }.count
      let shown =
        (0x20...0x7E).contains(byte)
        ? String(UnicodeScalar(byte)) : "\\x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
      line += count > 20 ? "\(shown)*\(count)" : String(repeating: shown, count: count)
      rest = rest.dropFirst(count)
    }
    for (text, name) in names { line = line.replacing(text, with: name) }
    return line
  }
}

/// Values by their fields, for files that outlive their types.
package enum Described {
  /// Without those that are nil.
  package static func fields(_ fields: KeyValuePairs<String, String?>) -> String {
    fields.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: " ")
  }

  package static func request(_ request: ThreadRequest, token: String? = nil) -> String {
    fields([
      request.command.rawValue: request.home?.debugDescription ?? "",
      "transaction": request.transaction?.debugDescription, "router": request.agent?.description,
      "network": request.network?.description, "dataset": request.dataset?.hex,
      "name": request.networkName?.debugDescription, "id": request.id?.debugDescription,
      "scope": request.scope?.rawValue, "purpose": request.purpose?.rawValue, "token": token?.debugDescription,
      "program": request.program?.debugDescription,
    ])
  }

  package static func refusal(_ code: String, _ field: String?, _ tlv: String?, _ offset: Int?, _ message: String)
    -> String
  {
    "!"
      + fields([
        "code": code, "field": field, "tlv": tlv, "offset": offset?.description, "message": message.debugDescription,
      ])
  }

  package static func refusal(_ failure: AnswerFailure) -> String {
    refusal(failure.code, failure.field, failure.tlv, failure.offset, failure.message)
  }
}

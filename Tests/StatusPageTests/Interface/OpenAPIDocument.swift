@testable import StatusPage

/// The lines of `docs/reference/openapi.yaml`, made of the routes.
struct OpenAPIDocument {
  /// An object of an answer.
  struct Schema {
    let name: String
    let about: String
    /// Each with its schema in YAML.
    let fields: [(name: String, schema: String)]
    let needs: [String]
  }

  static let schemas = [
    Schema(name: "Liveness", about: "The daemon answers.", fields: [("status", "{const: ok}")], needs: ["status"]),
    Schema(
      name: "Readiness", about: "Whether the daemon does its work.",
      fields: [("checks", "{type: array, items: {$ref: '#/components/schemas/Check'}}"), ("ready", "{type: boolean}")],
      needs: ["checks", "ready"]),
    Schema(
      name: "Check", about: "Something that has to work.",
      fields: [
        ("name", "{type: string, description: 'For instance `broker`.'}"), ("ok", "{type: boolean}"),
        ("reason", "{type: string, description: What is wrong and what to do.}"),
      ], needs: ["name", "ok"]),
    Schema(
      name: "Outcome", about: "A change that was made.",
      fields: [
        ("code", "{type: string, description: Shown this once.}"),
        ("confirmation", "{$ref: '#/components/schemas/Confirmation'}"),
        ("message", "{type: string, description: For a person.}"),
        ("seconds", "{type: integer, description: After which the code is to be hidden.}"),
      ], needs: ["message"]),
    Schema(
      name: "Confirmation", about: "What makes the code count.",
      fields: [
        ("label", "{type: string, description: What a person types.}"),
        ("path", "{type: string, description: 'Where it is posted, as `code`.'}"),
      ], needs: ["label", "path"]),
    Schema(
      name: "Refusal", about: "Why a change was not made.",
      fields: [
        ("choices", "{type: array, items: {$ref: '#/components/schemas/Choice'}}"),
        ("message", "{type: string, description: For a person.}"),
        ("remedy", "{type: string, description: What to do.}"),
      ], needs: ["message"]),
    Schema(
      name: "Choice", about: "How the change can be made all the same.",
      fields: [
        ("label", "{type: string, description: For a person.}"),
        ("with", "{type: object, description: What the same request has then beside what it had.}"),
      ], needs: ["label", "with"]),
  ]

  /// Who may read, and who may change.
  private static let readers = "[{}, {bearer: []}, {cookie: []}]"

  var text: String { (head + paths + components).joined(separator: "\n") + "\n" }

  private var head: [String] {
    [
      "# `make wire` writes this file from the routes of Sources/StatusPage.", "openapi: 3.1.0", "info:",
      "  title: The HTTP interface of threadkeeper", "  version: '1'",
      "  license: {name: Apache-2.0, identifier: Apache-2.0}", "  description: |-",
      "    Health, metrics and the status page of the daemon. Programs ask for credentials over MQTT or the local API.",
      "    A request names its host: an address, `localhost`, or a name of the setting `http.names`; else the answer is 421.",
      "    Without a token (`threadkeeper page token`), everybody who gets in may read, and nobody may change anything.",
      "servers:", "- {url: 'http://127.0.0.1:8423', description: The default of `http.address` and `http.port`.}",
      "security: \(Self.readers)",
    ]
  }

  private var paths: [String] {
    var lines = ["paths:"]
    for reading in PageReading.allCases.sorted(by: { $0.rawValue < $1.rawValue }) { lines += read(reading) }
    for (path, _) in Blueprints.files.sorted(by: { $0.key < $1.key }) {
      lines += get(
        path, path.dropFirst().map { $0.isLetter ? "\($0)" : "_" }.joined(), "A blueprint for Home Assistant.")
      lines += [
        "      security: []", "      responses:",
        "        '200': {description: The blueprint., content: {application/yaml: {}}}",
      ]
    }
    for (path, route) in PageChange.routes.sorted(by: { $0.key < $1.key }) { lines += change(path, route) }
    return lines
  }

  private func get(_ path: String, _ name: String, _ summary: String) -> [String] {
    ["  \(path):", "    get:", "      operationId: \(name)", "      summary: '\(summary)'"]
  }

  private func read(_ reading: PageReading) -> [String] {
    let lines = get(reading.rawValue, "\(reading)", reading.summary)
    func answer(_ status: Int, _ about: String, _ type: String, _ schema: String? = nil) -> String {
      let content = schema.map { "{schema: {$ref: '#/components/schemas/\($0)'}}" } ?? "{}"
      return "        '\(status)': {description: \(about), content: {\(type): \(content)}}"
    }
    let isRefused = "        '401': {$ref: '#/components/responses/Unauthorized'}"
    let json = "application/json"
    let rest: [String] =
      switch reading {
      case .page:
        [
          "      parameters:", "      - {name: token, in: query, schema: {type: string}, description: For the cookie.}",
          "      responses:", answer(200, "The page.", "text/html"), isRefused,
        ]
      case .events:
        [
          "      responses:",
          answer(200, "An endless stream. Each version may change its fields.", "text/event-stream"), isRefused,
          "        '503': {description: Too many read it., content: {text/plain: {}}}",
        ]
      case .liveness: ["      security: []", "      responses:", answer(200, "It does.", json, "Liveness")]
      case .readiness:
        [
          "      security: []", "      responses:", answer(200, "It does.", json, "Readiness"),
          answer(503, "It does not.", json, "Readiness"),
        ]
      case .metrics: ["      responses:", answer(200, "In Prometheus' text format.", "text/plain"), isRefused]
      }
    return lines + rest
  }

  private func change(_ path: String, _ route: PageChange.Route) -> [String] {
    let name = path.dropFirst().map { $0.isLetter ? "\($0)" : "_" }.joined()
    var lines = [
      "  \(path):", "    post:", "      operationId: \(name)", "      summary: '\(route.summary)'",
      "      security: [{bearer: []}, {cookie: []}]", "      requestBody:", "        required: true",
      "        content:", "          application/json:", "            schema:", "              type: object",
    ]
    let fields = route.needs + route.mayHave
    if !fields.isEmpty { lines.append("              properties:") }
    for field in fields {
      lines.append("                \(field.rawValue): {$ref: '#/components/schemas/\(field.rawValue)'}")
    }
    if !route.needs.isEmpty {
      lines.append("              required: [\(route.needs.map(\.rawValue).joined(separator: ", "))]")
    }
    return lines + [
      "      responses:", "        '200': {$ref: '#/components/responses/Made'}",
      "        '400': {$ref: '#/components/responses/Refused'}",
      "        '403': {$ref: '#/components/responses/Refused'}",
      "        '409': {$ref: '#/components/responses/Refused'}",
    ]
  }

  private var components: [String] {
    var lines = [
      "components:", "  securitySchemes:", "    bearer: {type: http, scheme: bearer}",
      "    cookie: {type: apiKey, in: cookie, name: threadkeeper_token}", "  responses:",
      "    Made: {description: It was made., content: {application/json: {schema: {$ref: '#/components/schemas/Outcome'}}}}",
      "    Unauthorized: {description: It needs the token., content: {text/plain: {}}}", "    Refused:",
      "      description: '400: the body says no change. 403: not without the token, or not from that page. 409: not now.'",
      "      content: {application/json: {schema: {$ref: '#/components/schemas/Refusal'}}}", "  schemas:",
    ]
    for field in PageChange.Field.allCases {
      let type = field.isFlag ? "boolean" : "string"
      lines.append("    \(field.rawValue): {type: \(type), description: '\(field.meaning)'}")
    }
    for schema in Self.schemas {
      lines += ["    \(schema.name):", "      description: \(schema.about)", "      type: object", "      properties:"]
      lines += schema.fields.map { "        \($0.name): \($0.schema)" }
      lines.append("      required: [\(schema.needs.joined(separator: ", "))]")
    }
    return lines
  }
}

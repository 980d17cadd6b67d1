import Foundation
import Logging
import Testing

@testable import Threadkeeper

struct TextLogHandlerTests {
  let captured: CapturedOutput
  let logger: Logger

  init() throws {
    let captured = try CapturedOutput()
    self.captured = captured
    logger = Logger(label: "test") { _ in TextLogHandler(level: .info, output: captured.output) }
  }

  @Test("A line has time, level, message and the sorted metadata") func lineShape() throws {
    logger.warning("router is elsewhere", metadata: ["name": "Living room", "id": "a1b2"])
    let line = try #require(captured.lines.first)
    #expect(captured.lines.count == 1)
    let time = line.prefix(24)
    #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    #expect(line.dropFirst(24) == #" warning  router is elsewhere  id=a1b2 name="Living room""#)
  }

  @Test("Messages of all levels start in the same column") func columns() {
    var everything = logger
    everything.logLevel = .trace
    for level in Logger.Level.allCases { everything.log(level: level, "@") }
    let columns = captured.lines.map { $0.distance(from: $0.startIndex, to: $0.firstIndex(of: "@")!) }
    #expect(columns.count == Logger.Level.allCases.count)
    #expect(Set(columns).count == 1)
  }

  @Test("What is below the level is not written") func levelFilter() {
    var logger = logger
    logger.logLevel = .error
    for level in Logger.Level.allCases { logger.log(level: level, "said at \(level.rawValue)") }
    #expect(captured.lines.map { $0.split(separator: " ").last } == ["error", "critical"])
  }

  @Test("Nothing from outside can end a line or steer a terminal", arguments: HostileText.samples.indices)
  func noForgedLine(number: Int) {
    let hostile = HostileText.samples[number]
    logger.info("\(hostile)")
    logger.info("topic", metadata: ["topic": "\(hostile)"])
    logger.info("key", metadata: [hostile: "value"])
    logger.info("list", metadata: ["list": ["\(hostile)", ["\(hostile)": "\(hostile)"]]])
    #expect(captured.lines.count == 4)
    for line in captured.lines { #expect(!line.unicodeScalars.contains(where: HostileText.isHarmful)) }
  }

  @Test("A value that looks like more fields stays one") func quotedValue() {
    logger.info("x", metadata: ["a": "1 b=2", "c": #"say "hi""#, "d": ""])
    #expect(captured.lines.first?.hasSuffix(#"  a="1 b=2" c="say \"hi\"" d="""#) == true)
    // With a combining accent each is another character.
    logger.info("x", metadata: ["a": "1\"\u{301} b=\u{301}2", "c": "=\u{301}"])
    #expect(captured.lines.last?.hasSuffix("  a=\"1\\\"\u{301} b=\u{301}2\" c=\"=\u{301}\"") == true)
  }

  @Test("A flood of text is cut, and the line says how much is missing") func longText() {
    logger.info("x", metadata: ["topic": "\(String(repeating: "é", count: 30_000))"])
    let line = captured.lines.first ?? ""
    #expect(line.utf8.count < 5_000)
    #expect(line.hasSuffix("…(+55904 bytes)\""))
  }

  @Test("An event's metadata win over the provider's, and those over the logger's") func precedence() {
    let captured = captured
    var logger = Logger(label: "test") { _ in
      var handler = TextLogHandler(output: captured.output)
      handler.metadataProvider = Logger.MetadataProvider { ["b": "provider", "c": "provider"] }
      return handler
    }
    logger[metadataKey: "a"] = "logger"
    logger[metadataKey: "b"] = "logger"
    logger.info("x", metadata: ["c": "event"])
    #expect(captured.lines.first?.hasSuffix("  a=logger b=provider c=event") == true)
  }

  @Test("A file gets no colour") func noColorInFile() {
    #expect(!captured.output.style.isOn)
    logger.critical("x")
    #expect(!captured.text.contains("\u{1B}"))
  }
}

struct JSONLogHandlerTests {
  let captured: CapturedOutput
  let logger: Logger

  init() throws {
    let captured = try CapturedOutput()
    self.captured = captured
    logger = Logger(label: "bridge") { label in JSONLogHandler(label: label, level: .info, output: captured.output) }
  }

  private func objects() throws -> [[String: Any]] {
    try captured.lines.map { line in try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  @Test("A line is one object with time, level, label, message and the metadata beside them") func lineShape() throws {
    logger.warning("router is elsewhere", metadata: ["router": "a1b2"])
    let object = try #require(objects().first as? [String: String])
    let time = try #require(object["time"])
    #expect(
      object == [
        "time": time, "level": "warning", "label": "bridge", "message": "router is elsewhere", "router": "a1b2",
      ])
    let date = try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(time)
    #expect(abs(date.timeIntervalSinceNow) < 60)
  }

  @Test("Hostile text comes back as it was, on one line", arguments: HostileText.samples.indices) func hostileText(
    number: Int
  ) throws {
    let hostile = HostileText.samples[number]
    logger.info("\(hostile)", metadata: ["topic": "\(hostile)", "list": ["\(hostile)"]])
    logger.info("key", metadata: ["k\(hostile)": "value"])
    #expect(captured.lines.count == 2)
    #expect(!captured.lines.joined().unicodeScalars.contains(where: HostileText.isHarmful))
    let objects = try objects()
    #expect(objects[0]["message"] as? String == hostile)
    #expect(objects[0]["topic"] as? String == hostile)
    #expect(objects[0]["list"] as? [String] == [hostile])
    #expect(objects[1]["k\(hostile)"] as? String == "value")
  }

  @Test("Any text at all gives valid JSON on one line") func randomText() throws {
    var generator = SystemRandomNumberGenerator()
    var texts: [String] = []
    for _ in 0..<500 {
      let scalars = (0..<Int.random(in: 0...40, using: &generator)).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 0...0x2FFF, using: &generator))
      }
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      texts.append(String(text))
      logger.info("\(String(text))")
    }
    #expect(try objects().map { $0["message"] as? String } == texts)
  }

  @Test("Metadata cannot take the place of the line's own fields") func reservedNames() throws {
    logger.info("true message", metadata: ["message": "false", "level": "x", "metadata.level": "y"])
    let object = try #require(objects().first)
    for (name, value) in [
      "message": "true message", "level": "info", "metadata.message": "false", "metadata.level": "x",
      "metadata.metadata.level": "y",
    ] { #expect(object[name] as? String == value) }
  }

  @Test("Whole numbers and truth values keep their kind; nested metadata stay nested") func kinds() throws {
    logger.info(
      "x",
      metadata: [
        "count": .stringConvertible(42), "big": .stringConvertible(UInt64.max), "yes": .stringConvertible(true),
        "odd": .stringConvertible(Double.nan), "net": ["name": "home", "ids": ["1", "2"]],
      ])
    let line = try #require(captured.lines.first)
    for field in [
      #""count":42"#, #""big":18446744073709551615"#, #""yes":true"#, #""odd":"nan""#,
      #""net":{"ids":["1","2"],"name":"home"}"#,
    ] { #expect(line.contains(field)) }
    #expect(try objects().count == 1)
  }

  @Test("An error is a field, unless the event names one itself") func errorField() throws {
    struct Failure: Error, CustomStringConvertible { let description = "disk full" }
    logger.error("commit failed", error: Failure())
    logger.error("commit failed", error: Failure(), metadata: ["error": "other"])
    #expect(try objects().map { $0["error"] as? String } == ["disk full", "other"])
  }

  @Test("What is below the level is not written") func levelFilter() {
    logger.debug("no")
    logger.trace("no")
    #expect(captured.text.isEmpty)
  }
}

/// What somebody might call a topic or a router to harm whoever reads the log. Tests take them
/// by number: the name of a test case is printed as it stands.
enum HostileText {
  static let samples = [
    "a\n2026-11-21T04:36:00.123Z info    all is well", "a\r\nb", "a\u{85}b", "a\u{2028}b\u{2029}c", "a\u{0B}b\u{0C}c",
    "\u{1B}[2J\u{1B}[1;1Hgone", "\u{9B}31m", "a\u{0}b", "\u{7F}\u{8}\u{8}", #"","level":"critical","x":""#, #"\"#,
    #"\n"#, #"a\"b"#, "a=b c=d", "", "\u{202E}gnp.exe", "\u{2066}x\u{2069}", "\u{FEFF}x", "\u{061C}\u{200F}",
    "Wohnzimmer – Küche 🏠👨‍👩‍👧", "{\"a\":[1,2", "\u{10FFFF}\u{E000}", String(repeating: "\n", count: 100),
  ]

  /// What no line may hold as it stands.
  static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .lineSeparator
      || scalar.properties.generalCategory == .paragraphSeparator || ("\u{202A}"..."\u{202E}").contains(scalar)
      || ("\u{2066}"..."\u{2069}").contains(scalar)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Logging
import Testing
import ThreadkeeperCLI

struct TextLogHandlerTests {
  let captured: CapturedOutput
  let logger: Logger

  init() throws {
    let captured = try CapturedOutput()
    self.captured = captured
    logger = Logger(label: "test") { _ in TextLogHandler(level: .info, output: captured.output) }
  }

  @Test("A line has time, level, message and the sorted metadata")
  func lineShape() throws {
    logger.warning("router is elsewhere", metadata: ["name": "Living room", "id": "a1b2"])
    let line = try #require(captured.lines.first)
    #expect(captured.lines.count == 1)
    let time = line.prefix(24)
    #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    #expect(line.dropFirst(24) == #" warning  router is elsewhere  id=a1b2 name="Living room""#)
  }

  @Test("Messages of all levels start in the same column")
  func columns() {
    var everything = logger
    everything.logLevel = .trace
    for level in Logger.Level.allCases { everything.log(level: level, "@") }
    let columns = captured.lines.map {
      $0.distance(from: $0.startIndex, to: $0.firstIndex(of: "@")!)
    }
    #expect(columns.count == Logger.Level.allCases.count)
    #expect(Set(columns).count == 1)
  }

  @Test("What is below the level is not written")
  func levelFilter() {
    var logger = logger
    logger.logLevel = .error
    for level in Logger.Level.allCases { logger.log(level: level, "said at \(level.rawValue)") }
    #expect(captured.lines.count == 2)
    #expect(captured.text.contains("said at error"))
    #expect(captured.text.contains("said at critical"))
  }

  @Test(
    "Nothing from outside can end a line or steer a terminal",
    arguments: HostileText.samples.indices)
  func noForgedLine(number: Int) {
    let hostile = HostileText.samples[number]
    logger.info("\(hostile)")
    logger.info("topic", metadata: ["topic": "\(hostile)"])
    logger.info("key", metadata: [hostile: "value"])
    logger.info("list", metadata: ["list": ["\(hostile)", ["\(hostile)": "\(hostile)"]]])
    #expect(captured.lines.count == 4)
    for line in captured.lines {
      #expect(!line.unicodeScalars.contains(where: HostileText.isHarmful))
    }
  }

  @Test("A value that looks like more fields stays one")
  func quotedValue() {
    logger.info("x", metadata: ["a": "1 b=2", "c": #"say "hi""#, "d": ""])
    #expect(captured.lines.first?.hasSuffix(#"  a="1 b=2" c="say \"hi\"" d="""#) == true)
  }

  @Test("A flood of text is cut, and the line says how much is missing")
  func longText() {
    logger.info("x", metadata: ["topic": "\(String(repeating: "é", count: 30_000))"])
    let line = captured.lines.first ?? ""
    #expect(line.utf8.count < 5_000)
    #expect(line.hasSuffix("…(+55904 bytes)\""))
  }

  @Test("An event's metadata win over the provider's, and those over the logger's")
  func precedence() {
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

  @Test("A file gets no colour")
  func noColorInFile() {
    #expect(!captured.output.style.isOn)
    logger.critical("x")
    #expect(!captured.text.contains("\u{1B}"))
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Testing
import ThreadkeeperCLI

struct JSONLogHandlerTests {
  let captured: CapturedOutput
  let logger: Logger

  init() throws {
    let captured = try CapturedOutput()
    self.captured = captured
    logger = Logger(label: "bridge") { label in
      JSONLogHandler(label: label, level: .info, output: captured.output)
    }
  }

  private func objects() throws -> [[String: Any]] {
    try captured.lines.map { line in
      try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  @Test("A line is one object with time, level, label, message and the metadata beside them")
  func lineShape() throws {
    logger.warning("router is elsewhere", metadata: ["router": "a1b2"])
    let object = try #require(objects().first)
    #expect(Set(object.keys) == ["time", "level", "label", "message", "router"])
    #expect(object["level"] as? String == "warning")
    #expect(object["label"] as? String == "bridge")
    #expect(object["message"] as? String == "router is elsewhere")
    #expect(object["router"] as? String == "a1b2")
    let time = try #require(object["time"] as? String)
    let date = try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(time)
    #expect(abs(date.timeIntervalSinceNow) < 60)
  }

  @Test("Hostile text comes back as it was, on one line", arguments: HostileText.samples.indices)
  func hostileText(number: Int) throws {
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

  @Test("Any text at all gives valid JSON on one line")
  func randomText() throws {
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

  @Test("Metadata cannot take the place of the line's own fields")
  func reservedNames() throws {
    logger.info(
      "true message", metadata: ["message": "false", "level": "x", "metadata.level": "y"])
    let object = try #require(objects().first)
    #expect(object["message"] as? String == "true message")
    #expect(object["level"] as? String == "info")
    #expect(object["metadata.message"] as? String == "false")
    #expect(object["metadata.level"] as? String == "x")
    #expect(object["metadata.metadata.level"] as? String == "y")
  }

  @Test("Whole numbers and truth values keep their kind; nested metadata stay nested")
  func kinds() throws {
    logger.info(
      "x",
      metadata: [
        "count": .stringConvertible(42), "big": .stringConvertible(UInt64.max),
        "yes": .stringConvertible(true), "odd": .stringConvertible(Double.nan),
        "net": ["name": "home", "ids": ["1", "2"]],
      ])
    let line = try #require(captured.lines.first)
    #expect(line.contains(#""count":42"#))
    #expect(line.contains(#""big":18446744073709551615"#))
    #expect(line.contains(#""yes":true"#))
    #expect(line.contains(#""odd":"nan""#))
    #expect(line.contains(#""net":{"ids":["1","2"],"name":"home"}"#))
    #expect(try objects().count == 1)
  }

  @Test("An error is told as a field, unless the event names one itself")
  func errorField() throws {
    struct Failure: Error, CustomStringConvertible { let description = "disk full" }
    logger.error("commit failed", error: Failure())
    logger.error("commit failed", error: Failure(), metadata: ["error": "other"])
    #expect(try objects().map { $0["error"] as? String } == ["disk full", "other"])
  }

  @Test("What is below the level is not written")
  func levelFilter() {
    logger.debug("no")
    logger.trace("no")
    #expect(captured.text.isEmpty)
  }
}

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("What the broker refuses, in status and in the log") struct RefusedPublicationsTests {
  private let log = RecordingLog()
  private let monitor = BridgeMonitor()
  private let refused: RefusedPublications
  private let byAccess = PublicationOutcome.refused(MosquittoError(.notAuthorized, "not allowed"))

  init() {
    refused = RefusedPublications(
      monitor: monitor, devices: ["ha/device/+/config", "former/device/+/config"], logger: log.logger)
  }

  @discardableResult private func send(_ topic: String, _ outcome: PublicationOutcome, isEmpty: Bool = false) -> Bool {
    refused.acknowledged(SentPublication(Publication(topic: topic, payload: isEmpty ? [] : [1])), outcome)
  }

  @Test("A reason is one line of the log, until the broker takes again what it has refused") func topics() {
    for topic in ["a", "b", "a"] { #expect(!send(topic, byAccess)) }
    #expect(log.lines == ["the broker refuses publications reason=not allowed"])
    #expect(log.levels == [.error])
    #expect(monitor.snapshot.publicationsRefused == 3)
    #expect(
      monitor.snapshot.refused == Refusal(.topic, topic: "a", MosquittoError(.notAuthorized, "not allowed"), count: 2))
    // One that was never refused says nothing; one that is let through again speaks for all.
    #expect(!send("c", .delivered))
    #expect(monitor.snapshot.refused?.count == 2)
    #expect(send("b", .delivered))
    #expect(monitor.snapshot.refused == nil)
    #expect(!send("a", .delivered))
    #expect(log.lines.last == "the broker takes again what it has refused")
    send("a", byAccess)
    #expect(log.lines.count == 3)
  }

  @Test("Devices that are refused are one line of the log with the remedy, until they are taken") func devices() {
    func lines() -> [String] { log.lines.filter { $0.contains("device of Home Assistant") } }
    for _ in 0..<3 {
      refused.restart()
      for device in ["a", "b"] { #expect(!send("ha/device/\(device)/config", byAccess)) }
    }
    #expect(lines().count == 1)
    #expect(lines().first?.contains("home_assistant.discovery: off") == true)
    #expect(monitor.snapshot.refused?.count == 2 && monitor.snapshot.refused?.kind == .device)
    #expect(monitor.snapshot.publicationsRefused == 6)
    // Whoever publishes them tries all again with the next connection.
    #expect(!send("ha/device/a/config", .delivered))
    #expect(monitor.snapshot.refused == nil)
    #expect(log.lines.last == "the broker takes the devices of Home Assistant again")
    send("ha/device/a/config", byAccess)
    #expect(lines().count == 2)
  }

  @Test("A removal that is refused stays in status, also when other devices are taken") func removals() {
    send("former/device/a/config", byAccess, isEmpty: true)
    send("ha/device/a/config", .delivered)
    #expect(monitor.snapshot.refused?.topic == "former/device/a/config")
    #expect(monitor.snapshot.refused?.remedy.contains("mosquitto_pub") == true)
    send("former/device/b/config", .delivered, isEmpty: true)
    #expect(monitor.snapshot.refused == nil)
  }

  @Test("Another connection knows nothing of the one before") func restart() {
    send("a", byAccess)
    send("ha/device/a/config", byAccess)
    refused.restart()
    #expect(monitor.snapshot.refused == nil)
    #expect(!send("a", .delivered), "it was not refused there")
  }

  @Test("A topic that is refused is shown before devices are") func order() {
    send("a", byAccess)
    send("ha/device/a/config", byAccess)
    #expect(monitor.snapshot.refused?.kind == .topic)
    send("a", .delivered)
    #expect(monitor.snapshot.refused?.kind == .device)
  }

  @Test("Each topic is counted once, and is gone when the broker takes it") func counted() {
    let refused = PublicationOutcome.refused(MosquittoError(.refused, "too much"))
    for topic in ["a", "b", "a"] { #expect(!send(topic, refused)) }
    #expect(monitor.snapshot.refused == Refusal(.topic, topic: "a", MosquittoError(.refused, "too much"), count: 2))
    #expect(!send("c", .delivered))
    #expect(monitor.snapshot.refused?.count == 2)
    #expect(!send("a", .delivered))
    #expect(monitor.snapshot.refused?.topic == "b" && monitor.snapshot.refused?.count == 1)
    #expect(!send("b", .delivered))
    #expect(monitor.snapshot.refused == nil)
  }

  @Test("However many topics are refused, a thousand are counted") func bounded() {
    for topic in 0..<1_010 { send("t/\(topic)", byAccess) }
    #expect(monitor.snapshot.refused?.count == 1_000)
  }
}

// SPDX-License-Identifier: Apache-2.0

import MosquittoClient
import Synchronization
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Tells what happens in one line each: what the routers do, and what the daemon says to it.
final class Timeline: Sendable {
  private let start = ContinuousClock.now
  private let style = TerminalStyle(of: .output)
  private let output = Mutex(())

  func heading(_ text: String) { write("\n" + style.bold(text) + "\n") }

  func action(_ who: String, _ text: String) { line(who, text) }

  func write(_ text: String) {
    // Where standard output is closed, nobody watches.
    output.withLock { _ in try? StandardStream.output.write(text) }
  }

  /// Events and alerts of the daemon, in words.
  func tell(_ message: IncomingMessage) {
    guard message.topic.hasSuffix("bridge/event") || message.topic.hasSuffix("bridge/event/alert"),
      let event = try? JSONDecoder().decode(Heard.self, from: Data(message.payload))
    else { return }
    let words = event.words.printable
    switch event.eventType {
    case "alert_raised": line("daemon", style.red(words))
    case "alert_resolved": line("daemon", style.green(words))
    default: line("daemon", words)
    }
  }

  private func line(_ who: String, _ text: String) {
    let elapsed = ContinuousClock.now - start
    let tenths = elapsed / .milliseconds(100)
    let clock = "\(Int(tenths) / 10).\(Int(tenths) % 10)s"
    let padding = String(repeating: " ", count: max(0, 6 - clock.count))
    let name = who + String(repeating: " ", count: max(0, 12 - who.count))
    write("\(padding)\(clock)  \(name) \(text)\n")
  }

  /// The fields of an event that the timeline tells.
  private struct Heard: Decodable {
    let eventType: String
    let borderAgentID: String?
    let networkName: String?
    let alertname: String?
    let severity: String?
    let summary: String?
    let ssid: String?
    let preferred: String?
    let differs: [String]?

    enum CodingKeys: String, CodingKey {
      case eventType = "event_type"
      case borderAgentID = "border_agent_id"
      case networkName = "network_name"
      case alertname, severity, summary, ssid, preferred, differs
    }

    var words: String {
      let router = borderAgentID ?? ""
      let changes = differs.map { " (\($0.joined(separator: ", ")))" } ?? ""
      switch eventType {
      case "router_discovered": return "event: router \(router) is seen on the local network"
      case "router_announced": return "event: router \(router) is here"
      case "router_online": return "event: router \(router) is back"
      case "router_left": return "event: router \(router) left; its credentials are deleted"
      case "dataset_stored":
        return "event: credentials of \(networkName ?? "") stored, encrypted"
      case "dataset_updated":
        return "event: credentials updated to \(networkName ?? "")\(changes)"
      case "preferred_changed": return "event: \(networkName ?? "") is the preferred network"
      case "ssid_changed":
        return "event: SSID is now \(ssid ?? ""); preferred network: \(preferred ?? "none")"
      case "alert_raised": return "ALERT \(alertname ?? "") (\(severity ?? "")): \(summary ?? "")"
      case "alert_updated": return "ALERT \(alertname ?? "") changed: \(summary ?? "")"
      case "alert_resolved": return "RESOLVED \(alertname ?? ""): \(summary ?? "")"
      default: return "event: \(eventType)"
      }
    }
  }
}

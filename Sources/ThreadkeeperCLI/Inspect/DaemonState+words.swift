// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

extension DaemonState {
  fileprivate static let unknownWords =
    "not known: the daemon does not answer; `bridge/health` on the broker tells"
}

extension DaemonState.Broker {
  var words: String {
    let place = "\(embedded ? "embedded, " : "")\(host):\(port)"
    switch state {
    case .connected: return "\(place), connected"
    case .connecting: return "\(place), not connected" + (problem.map { ": \($0)" } ?? "")
    case .notRunning: return "\(place), not asked (the daemon is not running)"
    case .unknown: return "\(place), \(DaemonState.unknownWords)"
    }
  }
}

extension DaemonState.Intake {
  var words: String {
    switch state {
    case .running: "running" + (reason.map { "; \($0)" } ?? "")
    case .connecting: "connecting" + (reason.map { ": \($0)" } ?? "")
    case .backingOff: "stands still" + (reason.map { ": \($0)" } ?? "")
    case .notRunning: "not running"
    case .unknown: DaemonState.unknownWords
    }
  }
}

extension DaemonState.Discovery {
  var words: String {
    switch state {
    case .off: return "off (setting `discovery.mdns`)"
    case .starting: return "starting"
    case .unavailable: return "unavailable: \(problem ?? "") \(remedy ?? "")"
    case .running:
      let count = routers ?? 0
      let left = refused.flatMap { $0 > 0 ? "; records not listed: \($0)" : nil } ?? ""
      return "mDNS, \(count == 1 ? "1 border router" : "\(count) border routers")\(left)"
    }
  }
}

extension DaemonState.Page {
  var words: String {
    switch state {
    case .off: "off (setting `http.enabled`)"
    case .starting: "starting"
    case .unavailable: "unavailable: \(problem ?? ""). \(remedy ?? "")"
    case .listening: listening
    }
  }
}

extension DaemonState.Page {
  private var listening: String {
    let proxy = trustedProxy.map { "through the proxy \($0)" }
    guard let url else { return proxy ?? "" }
    guard needsToken == true else {
      return "\(url), read only; `threadkeeper page token` lets you change something there"
    }
    return "\(url), with the link of `threadkeeper page token`\(proxy.map { ", or \($0)" } ?? "")"
  }
}

extension DaemonState.Refused {
  var words: String {
    let place = problem.contains(lastTopic) ? "" : ", `\(lastTopic)`"
    return
      "\(topics == 1 ? "1 topic" : "\(topics) topics"); the last\(place): \(problem). \(remedy)"
  }
}

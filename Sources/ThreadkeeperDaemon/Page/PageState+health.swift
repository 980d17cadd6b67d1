// SPDX-License-Identifier: Apache-2.0

import StatusPage

extension PageState.Part {
  init(_ check: Readiness.Check) {
    name = check.name
    state = check.ok ? "ok" : "bad"
    text = check.ok ? "works" : check.reason ?? "does not work"
  }

  init(_ discovery: DaemonState.Discovery) {
    name = "discovery"
    switch discovery.state {
    case .off:
      state = "off"
      text = "is switched off"
    case .starting:
      state = "ok"
      text = "starts"
    case .running:
      state = "ok"
      let routers = discovery.routers ?? 0
      text =
        "\(routers) border router\(routers == 1 ? "" : "s") can be seen"
    case .unavailable:
      state = "bad"
      text = discovery.problem ?? "is not available"
      remedy = discovery.remedy
    }
  }
}

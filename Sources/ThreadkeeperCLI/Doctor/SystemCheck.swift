// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The clock and avahi-daemon of this machine.
enum SystemCheck {
  /// - Parameter root: stands for `/`, without a slash at its end.
  static func clock(root: String) -> [Finding] {
    let place = root + "/run/systemd/timesync"
    let isKnown = access(place, F_OK) == 0
    return clock(
      isSynchronized: isKnown ? access(place + "/synchronized", F_OK) == 0 : nil,
      now: Int64(time(nil)))
  }

  /// - Parameters:
  ///   - isSynchronized: what systemd-timesyncd says; nil where it does not set the clock.
  ///   - now: seconds since 1970.
  static func clock(isSynchronized: Bool?, now: Int64) -> [Finding] {
    let check = Check(.system, "clock")
    // 2025-01-01: before this program was written.
    guard now > 1_735_689_600 else {
      return [
        check.problem(
          "The clock is wrong: certificates and envelopes will not be accepted",
          "Run `sudo timedatectl set-ntp true`", .system)
      ]
    }
    guard let isSynchronized else {
      return [
        check.notChecked(
          "Whether the clock is synchronized: systemd-timesyncd does not set it",
          "See `timedatectl`, or `chronyc tracking`")
      ]
    }
    guard !isSynchronized else { return [check.ok("The clock is synchronized")] }
    return [
      check.warning(
        "The clock is not synchronized",
        "Run `sudo timedatectl set-ntp true`, or see that NTP gets through")
    ]
  }

  /// Without a daemon that could be asked.
  ///
  /// - Parameter root: stands for `/`, without a slash at its end.
  static func avahi(isWanted: Bool, root: String) -> [Finding] {
    let check = Check(.system, "avahi")
    guard isWanted else {
      return [check.note("Border routers are not searched for (setting `discovery.mdns`)")]
    }
    guard access(root + "/run/avahi-daemon/socket", F_OK) == 0 else {
      return [
        check.warning(
          "avahi-daemon does not run: border routers on the local network are not found",
          "Run `sudo apt-get install avahi-daemon`, or set `discovery.mdns: off`")
      ]
    }
    return [check.ok("avahi-daemon runs")]
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

extension LocalNetwork {
  /// Why this machine cannot have such a network; nil when it can.
  ///
  /// `@Suite(.enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")"))` has the tests that need
  /// one skipped by name, with the reason.
  package static let obstacle: String? = {
    guard geteuid() == 0 else { return "only root may make a network namespace" }
    guard TestTools.avahi != nil else { return "no avahi-daemon: run .ci/test-tools" }
    let path = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
    for program in ["dbus-daemon", "ip", "nsenter", "unshare"] {
      let found = try? Program.run("sh", ["-c", "command -v \(program)"], environment: path)
      guard found?.status == 0 else { return "\(program) is missing" }
    }
    // A container may forbid it, a kernel may have no such interfaces, and root of a user namespace has no other users.
    let attempt = try? Program.run(
      "unshare",
      [
        "--net", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
        """
        mount -t tmpfs tmpfs /run && chown 64999 /run && mkdir /run/netns && ip netns add far && \
        ip link add near type veth peer name far && ip link set far netns far
        """,
      ], environment: path)
    guard let attempt else { return "unshare does not run" }
    return attempt.status == 0 ? nil : attempt.output.trimmingCharacters(in: .newlines)
  }()
}

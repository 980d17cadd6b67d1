// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Programs that tests need and that are not installed on the machine. See `.ci/test-tools`.
package enum TestTools {
  package struct Tool: Sendable {
    package let program: String
    /// For `LD_LIBRARY_PATH`; perhaps empty.
    package let libraries: String
  }

  /// The machine's avahi-daemon, else the one that `.ci/test-tools` has unpacked.
  package static let avahi: Tool? = {
    let files = FileManager.default
    let installed = "/usr/sbin/avahi-daemon"
    if files.isExecutableFile(atPath: installed) { return Tool(program: installed, libraries: "") }
    // The tests lie somewhere below `.build`, and the tools in it.
    var directory = ThreadkeeperBinary.executable.deletingLastPathComponent()
    while directory.path != "/" {
      let tools = directory.appendingPathComponent("test-tools/avahi-daemon")
      let program = tools.path + installed
      if files.isExecutableFile(atPath: program) {
        let libraries = tools.path + "/usr/lib"
        let folders = (try? files.contentsOfDirectory(atPath: libraries)) ?? []
        return Tool(
          program: program,
          libraries: folders.filter { $0.contains("-linux-") }.map { "\(libraries)/\($0)" }
            .joined(separator: ":"))
      }
      directory.deleteLastPathComponent()
    }
    return nil
  }()
}

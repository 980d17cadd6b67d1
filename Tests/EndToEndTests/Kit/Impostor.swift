// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// A program of another user of this machine, at the port of something that is off. For root, who can be two users.
enum Impostor {
  /// Nobody's.
  static let user = "65534"

  /// Accepts connections, answers nothing, and writes down what comes.
  static func start(_ url: String, _ received: String) throws -> ChildProcess {
    let program = """
      import os, socket, sys
      file = open(sys.argv[2], "ab", buffering=0)
      os.setuid(int(sys.argv[3]))
      listener = socket.socket()
      listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
      listener.bind(("127.0.0.1", int(sys.argv[1])))
      listener.listen()
      while True:
          connection = listener.accept()[0]
          file.write(connection.recv(65536))
          connection.close()
      """
    return try ChildProcess(
      "/usr/bin/env",
      [
        "python3", "-c", program, String(try #require(url.split(separator: ":").last)), received,
        user,
      ])
  }
}

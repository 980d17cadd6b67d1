// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@testable import Broker

@Suite("Directories of the private broker")
struct PrivateFileTests {
  @Test("One that is there gets mode 0700, when it is this user's")
  func own() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("broker")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    chmod(path, 0o755)
    try PrivateFile.makeDirectory(path)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test("One of another user is refused by name, and left as it is, also for root")
  func foreign() throws {
    let directory = try TemporaryDirectory()
    // Only root can give a directory away; for other users the system's own are another's.
    var path = "/usr"
    if geteuid() == 0 {
      path = directory.file("broker")
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      chmod(path, 0o755)
      try #require(chown(path, 65_534, 65_534) == 0)
    }
    let error = #expect(throws: EmbeddedBrokerError.self) { try PrivateFile.makeDirectory(path) }
    #expect(error?.reason == .directory)
    #expect(error?.message.contains("it belongs to user") == true, "\(String(describing: error))")
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o755)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("Daemons that run")
struct RunningDaemonTests {
  @Test("Only sockets that somebody listens on are found, each store once")
  func table() {
    let table = """
      Num       RefCount Protocol Flags    Type St Inode Path
      0000000000000000: 00000002 00000000 00010000 0001 01 101 /srv/a b/store/varlink.sock
      0000000000000000: 00000003 00000000 00000000 0001 03 102 /srv/a b/store/varlink.sock
      0000000000000000: 00000002 00000000 00010000 0001 01 103 /srv/c/varlink.sock
      0000000000000000: 00000003 00000000 00000000 0001 03 104 /srv/d/varlink.sock
      0000000000000000: 00000002 00000000 00010000 0001 01 105 /run/other.sock
      0000000000000000: 00000002 00000000 00010000 0001 01 106 @abstract/varlink.sock
      0000000000000000: 00000002 00000000 00010000 0001 01 107
      """
    #expect(RunningDaemon.storePaths(in: table) == ["/srv/a b/store", "/srv/c"])
    #expect(RunningDaemon.storePaths(in: "").isEmpty)
  }

  @Test("A daemon is found among any number of sockets, and beside one whose name is not UTF-8")
  func manySockets() throws {
    let directory = try TemporaryDirectory()
    let root = URL(fileURLWithPath: directory.path).resolvingSymlinksInPath().path
    var sockets: [Int32] = []
    defer { for socket in sockets { close(socket) } }
    func listen(_ path: [UInt8]) throws {
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      sockets.append(descriptor)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
      let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try #require(result == 0 && Glibc.listen(descriptor, 1) == 0)
    }
    try listen(Array("\(root)/".utf8) + [0xff])
    let stores = (0..<150).map { "\(root)/\($0)" }
    for store in stores {
      try FileManager.default.createDirectory(
        atPath: store, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      try listen(Array("\(store)/varlink.sock".utf8))
    }
    let found = RunningDaemon.all(environment: ["THREADKEEPER_SYSTEM_ROOT": root])
    #expect(Set(found.map(\.storePath)) == Set(stores))
  }

  @Suite("Who may have made the place")
  struct PlaceTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
      directory = try TemporaryDirectory()
      // Without the links that may lie above.
      store = URL(fileURLWithPath: directory.path).resolvingSymlinksInPath().path + "/above/store"
      try FileManager.default.createDirectory(
        atPath: store, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try bind(store + "/varlink.sock")
    }

    private func bind(_ path: String) throws {
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try #require(result == 0)
    }

    @Test("A store in directories that only its user and root can change is found")
    func own() throws {
      let expected = RunningDaemon(storePath: store, user: geteuid())
      #expect(RunningDaemon(at: store) == expected)
      // By another name, it is the same one.
      symlink(store, directory.file("link"))
      #expect(RunningDaemon(at: directory.file("link")) == expected)
      #expect(RunningDaemon(at: directory.file("none")) == nil)
    }

    @Test("A directory that others may write, the store's or one above it, is not believed")
    func openToOthers() {
      let above = (store as NSString).deletingLastPathComponent
      chmod(store, 0o722)
      #expect(RunningDaemon(at: store) == nil)
      chmod(store, 0o700)
      chmod(above, 0o777)
      #expect(RunningDaemon(at: store) == nil)
      chmod(above, 0o1777)
      #expect(RunningDaemon(at: store) != nil)
    }

    @Test("A link in the place of the socket is not believed")
    func linkedSocket() {
      rename(store + "/varlink.sock", directory.file("real.sock"))
      symlink(directory.file("real.sock"), store + "/varlink.sock")
      #expect(RunningDaemon(at: store) == nil)
    }

    @Test("A socket in another user's directory is not believed", .enabled(if: geteuid() == 0))
    func otherOwner() {
      chown(store, 65_534, 65_534)
      #expect(RunningDaemon(at: store) == nil)
      lchown(store + "/varlink.sock", 65_534, 65_534)
      #expect(RunningDaemon(at: store)?.user == 65_534)
      chown((store as NSString).deletingLastPathComponent, 65_533, 65_533)
      #expect(RunningDaemon(at: store) == nil)
    }
  }
}

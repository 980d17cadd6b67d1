// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import Foundation
import KeychainCore
import Logging
import TestKit
import Testing
import VarlinkSocket

@testable import ThreadkeeperDaemon

@Suite("Export and import over the local API", .timeLimit(.minutes(30)))
struct ExchangeTests {
  /// A store that is served on a socket.
  private struct Served {
    let moved: MovedStore
    let server: VarlinkServer
    let path: String

    init(items: Int = 0) throws {
      moved = try MovedStore()
      let (settings, logger) = (MovedStore.settings(moved.store), Logger(label: "test"))
      let handler = StoreHandler(
        service: StoreService(settings, enrolments: moved.enrolments, logger: logger),
        exchange: ExchangeService(settings, enrolments: moved.enrolments, logger: logger),
        maintenance: MaintenanceService(settings, keychain: moved.keychain, logger: logger))
      path = moved.store.path + "/varlink.sock"
      var limits = VarlinkLimits.owner
      (limits.silence, limits.sending) = (.seconds(600), .seconds(600))
      server = try VarlinkServer(
        path: path, limits: limits,
        service: VarlinkService(
          .init(vendor: "a", product: "a", version: "1", url: ""), interfaces: [.store],
          endpoints: handler.endpoints, failure: { VarlinkError(failing: $0) }))
      try moved.keychain.database.write { [keychain = moved.keychain] tx in
        for number in 0..<items {
          _ = try keychain.add(
            NewItem(
              .genericPassword,
              attributes: [.account: .string("\(number)"), .accessGroup: .string("own")],
              secret: .init(copying: [UInt8](repeating: 7, count: 4_000)),
              accessible: .afterFirstUnlock), in: tx)
        }
      }
    }

    func client() async throws -> VarlinkClient {
      try #require(try await VarlinkClient.connect(to: path, within: .seconds(600)))
    }

    func count() throws -> Int {
      try moved.keychain.database.read { try moved.keychain.count(in: $0) }
    }
  }

  private static let limit = Duration.seconds(600)

  private func export(_ served: Served) async throws -> (Data, [ExchangeStep]) {
    var steps: [ExchangeStep] = []
    let client = try await served.client()
    let request = StoreMethods.Export(passphrase: MovedStore.secret, file: "file")
    for try await step in try client.replies(
      to: StoreMethods.export, request, firstWithin: Self.limit)
    {
      steps.append(step)
    }
    return (steps.compactMap(\.data).reduce(Data(), +), steps)
  }

  private func upload(_ bytes: Data, _ client: VarlinkClient) async throws {
    var rest = bytes
    repeat {
      let piece = StoreMethods.Piece(Data(rest.prefix(StoreMethods.pieceLength)))
      rest = Data(rest.dropFirst(piece.data.count))
      let uploaded = try await client.call(StoreMethods.upload, piece, within: Self.limit)
      #expect(uploaded.bytes == bytes.count - rest.count)
    } while !rest.isEmpty
  }

  private func take(
    _ client: VarlinkClient, dryRun: Bool = false, _ onConflict: ItemImport.OnConflict? = nil
  ) async throws -> [ExchangeStep] {
    var steps: [ExchangeStep] = []
    let request = StoreMethods.Import(
      passphrase: MovedStore.secret, file: "file", onConflict: onConflict, dryRun: dryRun)
    for try await step in try client.replies(
      to: StoreMethods.importItems, request, firstWithin: Self.limit)
    {
      steps.append(step)
    }
    return steps
  }

  @Test("An export comes in pieces, its outcome last, and an import takes it in again")
  func exchange() async throws {
    let (old, new) = (try Served(items: 100), try Served())
    let (bytes, steps) = try await export(old)
    #expect(steps.last?.exported?.items == 100 && steps.last?.exported?.bytes == bytes.count)
    #expect(steps.count { $0.data != nil } == 3 && steps.contains { $0.progress != nil })
    let client = try await new.client()
    try await upload(bytes, client)
    let trial = try await take(client, dryRun: true)
    #expect(trial.last?.imported?.added == 100 && trial.last?.imported?.imported == false)
    #expect(try new.count() == 0)
    try await upload(bytes, client)
    #expect(try await take(client).last?.imported?.imported == true)
    #expect(try new.count() == 100)
    // Named one by one.
    try old.moved.enroll("hub")
    try await upload(try await export(old).0, client)
    let names = try await take(client).compactMap(\.names).flatMap { $0 }
    #expect(names == [ImportedName(client: "hub, home home")])
  }

  @Test("What was not uploaded whole on the same connection is not imported, and changes nothing")
  func halves() async throws {
    let (old, new) = (try Served(items: 100), try Served())
    let bytes = try await export(old).0
    let first = try await new.client()
    try await upload(bytes, first)
    // Another connection has no part of it, and neither has another import.
    let other = try await new.client()
    try await expectFailure(64) { _ = try await take(other) }
    let half = try await new.client()
    try await upload(bytes.prefix(bytes.count / 2), half)
    try await expectFailure(65) { _ = try await take(half) }
    #expect(try new.count() == 0)
    _ = try await take(first)
    let again = try await new.client()
    try await expectFailure(64) { _ = try await take(again) }
    #expect(try new.count() == 100)
  }

  private func expectFailure(_ exit: Int, _ body: () async throws -> Void) async throws {
    let error = await #expect(throws: VarlinkError.self) { try await body() }
    #expect(error?.parameters["exit"]?.int == exit, "\(String(describing: error))")
  }

  @Test("Uploads are dropped with their connection")
  func dropped() async throws {
    let served = try Served()
    let directory = try #require(
      realpath(served.moved.store.location.directory, nil).map { path in
        defer { free(path) }
        return String(cString: path)
      })
    func openFiles() throws -> [String] {
      let files = "/proc/self/fd/"
      return try FileManager.default.contentsOfDirectory(atPath: files)
        .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: files + $0) }
        .filter { $0.hasPrefix(directory + "/#") }
    }
    let client = try await served.client()
    try await upload(Data(count: 300_000), client)
    #expect(try openFiles().count == 1)
    client.close()
    try await eventually("the file to be closed") { try openFiles().isEmpty }
    let names = try FileManager.default.contentsOfDirectory(
      atPath: served.moved.store.location.directory)
    #expect(!names.contains { $0.hasPrefix("exchange-") })
  }

  @Test("An upload is bounded in bytes and in time")
  func bounds() throws {
    let directory = try TemporaryDirectory()
    let upload = ImportUpload(try UnnamedFile(in: directory.path), limit: 10)
    #expect(try upload.add(Data(count: 6)) == 6)
    #expect(throws: CommandFailure.self) { try upload.add(Data(count: 5)) }
    #expect(try upload.add(Data(count: 4)) == 10)
    #expect(try upload.file.read(100) == Data(count: 10))
    #expect(try upload.file.read(100) == nil)
    let late = ImportUpload(try UnnamedFile(in: directory.path), within: .zero)
    #expect(throws: CommandFailure.self) { try late.add(Data(count: 1)) }
  }
}

import Foundation
import TestKit
import Testing
import ThreadkeeperSupport

@testable import BorderRouterAgent

@Suite("Requests to a router", .timeLimit(.minutes(10))) struct OTBRClientTests {
  private func client(_ port: UInt16, _ timeout: Duration = .seconds(60), signal: WakeSignal? = nil) throws
    -> OTBRClient
  {
    OTBRClient(
      try #require(HTTPAddress("http://127.0.0.1:\(port)")), of: [0, getuid()], timeout: timeout, signal: signal)
  }

  private func failure(of client: OTBRClient, isFinished: Bool = false) -> HTTPFailure? {
    do throws(HTTPFailure) {
      _ = try client.perform(HTTPRequest(path: "/node"), isFinished: isFinished)
      return nil
    } catch { return error }
  }

  @Test("A request has its method, host, type and body, and its answer is read") func answered() throws {
    let server = try ScriptedServer("HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\n{}")
    #expect(try client(server.port).perform(.node("/state", accept: "text/plain")).status == 409)
    let head = "GET /node/state HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
    #expect(server.received == [head + "Accept: text/plain\r\nConnection: close\r\n\r\n"])
    let answer = try client(server.port).perform(
      HTTPRequest(method: .put, path: "/node/state", body: Array("\"enable\"".utf8)))
    #expect(answer.status == 409)
    let request = try #require(server.received.last)
    #expect(request.hasPrefix("PUT /node/state HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"))
    #expect(request.contains("Content-Type: application/json\r\n"))
    #expect(request.contains("Content-Length: 8\r\n"))
    #expect(request.hasSuffix("\r\n\r\n\"enable\""))
  }

  @Test("A look is one connection where the router keeps it; a request that was lost with it is sent again")
  func connections() throws {
    for (closes, drops, count) in [(false, false, 1), (true, false, 2), (false, true, 2)] {
      let server = try ScriptedServer(
        "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}", closes: closes, drops: drops)
      var reader = RouterReader()
      let look = try client(server.port).look(&reader)
      #expect(look == .silent(.garbage("/node/state is no Thread state")))
      let asked = server.received.compactMap { $0.split(separator: "\r\n").first }
      let again: [Substring] = drops ? ["GET /node/state HTTP/1.1"] : []
      #expect(asked == ["GET /node HTTP/1.1", "GET /node/state HTTP/1.1"] + again)
      #expect(server.received.allSatisfy { !$0.contains("Connection:") })
      #expect(server.connectionCount == count)
    }
  }

  @Test("Refused and frozen are two things") func failures() throws {
    #expect(failure(of: try client(UnusedPort.next())) == .unreachable("Connection refused"))
    let frozen = try ScriptedServer(nil, closes: false)
    #expect(failure(of: try client(frozen.port, .milliseconds(200))) == .timeout)
    let slow = try ScriptedServer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\"lea", closes: false)
    #expect(failure(of: try client(slow.port, .milliseconds(200))) == .timeout)
  }

  @Test("A connection that is never accepted: on this machine it is frozen, elsewhere unreachable") func neverAccepted()
    throws
  {
    let hole = try BlackHole()
    #expect(failure(of: try client(hole.port, .milliseconds(200))) == .timeout)
    #expect(HTTPTransfer.unaccepted(onLoopback: true) == .timeout)
    guard case .unreachable = HTTPTransfer.unaccepted(onLoopback: false) else {
      Issue.record("elsewhere it is unreachable")
      return
    }
  }

  @Test("localhost is asked at both of its addresses, without a look-up") func localhost() throws {
    let server = try ScriptedServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let address = try #require(HTTPAddress("http://localhost:\(server.port)"))
    #expect(try OTBRClient(address, of: [0, getuid()], timeout: .seconds(60)).perform(.node()).status == 200)
    let closed = try #require(HTTPAddress("http://localhost:\(UnusedPort.next())"))
    #expect(failure(of: OTBRClient(closed, of: [0])) == .unreachable("Connection refused"))
  }

  @Test("A name that there is not is unreachable") func unknown() throws {
    // RFC 6761, section 6.4: never found, also where there is a network.
    let address = try #require(HTTPAddress("http://none.invalid"))
    #expect(
      failure(of: OTBRClient(address, of: [0], timeout: .seconds(600)))
        == .unreachable("no address is found for none.invalid"))
  }

  @Test(
    "A program of another user is sent nothing, however the address of this machine is written",
    arguments: ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "127.1"]) func untrusted(host: String) throws
  {
    let server = try ScriptedServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let address = try #require(HTTPAddress("http://\(host):\(server.port)"))
    #expect(
      failure(of: OTBRClient(address, of: [getuid() + 1], timeout: .seconds(60)))
        == .untrusted("a program of user \(getuid()) listens on port \(server.port)"))
    #expect(failure(of: OTBRClient(address, of: [getuid()], timeout: .seconds(60))) == nil)
    #expect(server.received.count { !$0.isEmpty } == 1)
  }

  @Test("A stop ends a request that waits, but not one that changes the router") func stopped() async throws {
    let frozen = try ScriptedServer(nil, closes: false)
    let signal = WakeSignal()
    let waiting = try client(frozen.port, signal: signal)
    // On a thread of its own: it waits in system calls.
    async let result = SystemThread.result { failure(of: waiting) }
    try await eventually { !frozen.received.isEmpty }
    signal.raise()
    #expect(try await result == .stopped)
    let server = try ScriptedServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    #expect(failure(of: try client(server.port, signal: signal), isFinished: true) == nil)
  }
}

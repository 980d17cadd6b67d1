import Glibc
import TestKit
import Testing

@testable import ServiceDiscovery

@Suite("What the kernel says of routes") struct MachineNetworkTests {
  @Test("This machine's interfaces and their addresses are those that the C library has") func ownMachine() throws {
    let network = try #require(MachineNetwork.read())
    var list: UnsafeMutablePointer<ifaddrs>?
    #expect(getifaddrs(&list) == 0)
    defer { freeifaddrs(list) }
    var expected: Set<String> = []
    var next = list
    while let one = next?.pointee {
      next = one.ifa_next
      guard one.ifa_flags & UInt32(IFF_LOOPBACK) == 0, let address = one.ifa_addr?.pointee,
        [AF_INET, AF_INET6].contains(Int32(address.sa_family))
      else { continue }
      // An address may have a label: `eth0:1`.
      expected.insert(String(String(cString: one.ifa_name).prefix { $0 != ":" }))
    }
    #expect(Set(network.interfaces.filter { !$0.addresses.isEmpty }.map(\.name)) == expected)
    #expect(!network.interfaces.contains { $0.name == "lo" })
  }

  private static func number(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

  private static func message(_ type: UInt16, _ body: [UInt8], flags: UInt16 = 2, length: Int? = nil) -> [UInt8] {
    number(UInt32(length ?? 16 + body.count)) + number(type) + number(flags) + [UInt8](repeating: 0, count: 8) + body
  }

  @Test("Lists are read to their end; what is cut, refused, or of another list is none") func messages() {
    let list = KernelList.addresses
    func take(_ bytes: [UInt8]) -> (isWhole: Bool?, count: Int) {
      var entries: [KernelList.Entry] = []
      return (list.take(bytes, &entries), entries.count)
    }
    let entry = Self.message(20, [2, 24, 0, 0, 1, 0, 0, 0])
    #expect(take(entry + entry) == (false, 2))
    #expect(take(entry + Self.message(3, [0, 0, 0, 0]) + entry) == (true, 1))
    #expect(take(Self.message(16, [UInt8](repeating: 0, count: 16))) == (false, 0))
    #expect(take(Self.message(20, [2, 24])) == (false, 0))
    let bodyless = Self.message(3, [])
    #expect(take(entry + bodyless) == (true, 1))
    for bad in [
      Self.message(2, [0, 0, 0, 0]), Self.message(20, [], length: 15), Self.message(20, [], length: 17),
      Self.message(3, Self.number(Int32(-EINTR))), Self.message(3, [0, 0, 0, 0], flags: 0x12),
      Self.message(20, [2, 24, 0, 0, 1, 0, 0, 0], flags: 0x12),
    ] { #expect(take(bad).isWhole == nil) }
    #expect(take(Array(entry.dropLast())).isWhole == nil)
  }

  @Test("An attribute that is cut ends the list of them; flags of a type do not count") func attributes() {
    func attribute(_ type: UInt16, _ value: [UInt8], length: Int? = nil) -> [UInt8] {
      Self.number(UInt16(length ?? 4 + value.count)) + Self.number(type) + value
        + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
    }
    let first = attribute(1 | 0x8000, [7, 8, 9])
    func read(_ bytes: [UInt8]) -> [UInt16: [UInt8]] { KernelList.attributes(in: bytes[...]) }
    #expect(read(first + attribute(2, [1, 2, 3, 4])) == [1: [7, 8, 9], 2: [1, 2, 3, 4]])
    for length in [0, 3, 9] { #expect(read(first + attribute(2, [1, 2, 3, 4], length: length)) == [1: [7, 8, 9]]) }
    #expect(read([1, 2]) == [:] && KernelList.value(UInt32.self, in: [1, 2], at: 0) == 0)
  }

  @Test("Only an address is one", arguments: ["10.0.0.1", "fe80::1", "fe80::1%eth0", "attic", ""]) func text(
    text: String
  ) { #expect((MachineNetwork.bytes(of: text) != nil) == ["10.0.0.1", "fe80::1"].contains(text)) }
}

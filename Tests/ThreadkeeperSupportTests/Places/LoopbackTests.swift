import Testing
import ThreadkeeperSupport

@Suite("Loopback") struct LoopbackTests {
  @Test(
    "127.0.0.0/8, ::1 and localhost, however they are written",
    arguments: [
      "127.0.0.1", "127.9.9.9", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "::ffff:7f00:1",
      "localhost", "LocalHost",
    ]) func inside(host: String)
  { #expect(Loopback.contains(host: host)) }

  @Test(
    "Nothing else, above all no name that only looks like one",
    arguments: [
      "", "127", "127.1", "127.0.0.1.evil.example", "127.evil.example", "localhost.evil.example", "hub.local",
      "10.0.0.1", "0.0.0.0", "::", "::2", "::7f00:1", "::ffff:10.0.0.1", "fe80::1", "fd00::1", "2001:db8::1",
      "::fffe:127.0.0.1",
    ]) func outside(host: String)
  { #expect(!Loopback.contains(host: host)) }

  @Test("Addresses as in packets") func bytes() {
    #expect(Loopback.contains([127, 0, 0, 1]) && !Loopback.contains([126, 0, 0, 1]))
    #expect(!Loopback.contains([]) && !Loopback.contains([127]))
  }
}

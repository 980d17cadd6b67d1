import TestKit
import Testing

@testable import ServiceDiscovery

struct ServiceQuestionTests {
  private let question = ServiceQuestion(id: 0x1234, type: "_meshcop._udp.local")

  private func labels(_ names: String...) -> [UInt8] { names.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } }

  private var type: [UInt8] { labels("_meshcop", "_udp", "local") + [0] }

  private func packet(id: UInt8 = 0x34, flags: UInt8 = 0x84, questions: [[UInt8]] = [], answers: [[UInt8]]) -> [UInt8] {
    let counts: [UInt8] = [0, UInt8(questions.count), 0, UInt8(answers.count), 0, 0, 0, 0]
    return [0x12, id, flags, 0] + counts + questions.joined() + answers.joined()
  }

  private func record(_ name: [UInt8], _ kind: UInt8 = 33, _ group: [UInt8] = [0, 1]) -> [UInt8] {
    name + [0, kind] + group + [0, 0, 0, 10, 0, 7, 0, 0, 0, 0, 0xC0, 0, 0]
  }

  private func answers(_ packet: [UInt8]) -> Set<String> {
    Set(question.answers(in: packet).map { String(decoding: $0, as: UTF8.self) })
  }

  @Test("A query has one question, for the SRV record of the instance") func encoded() {
    #expect(
      question.packet(for: "Küche. #1") == [0x12, 0x34, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + labels("Küche. #1") + type + [
        0, 33, 0, 1,
      ])
  }

  @Test("An SRV record of an instance is an answer, in any case, and with the flag of its class") func answer() {
    let name = labels("Küche #1", "_MeshCoP", "_udp", "LOCAL") + [0]
    #expect(answers(packet(answers: [record(name)])) == ["küche #1"])
    #expect(answers(packet(answers: [record(name, 33, [0x80, 1])])) == ["küche #1"])
    #expect(ServiceQuestion.key("KüCHE #1") == Array("küche #1".utf8))
    let two = packet(answers: [record(name), record(labels("b") + type)])
    #expect(answers(two) == ["küche #1", "b"])
  }

  @Test("Names are compressed, and the question is repeated") func compressed() {
    // The question's name is at 12, its type at 14.
    let asked = labels("a") + type + [0, 33, 0, 1]
    #expect(answers(packet(questions: [asked], answers: [record([0xC0, 12])])) == ["a"])
    #expect(answers(packet(questions: [asked], answers: [record(labels("b") + [0xC0, 14])])) == ["b"])
  }

  @Test("Other packets are no answer") func others() {
    let good = record(labels("a") + type)
    #expect(answers(packet(id: 0x35, answers: [good])).isEmpty)
    #expect(answers(packet(flags: 0, answers: [good])).isEmpty)
    for other in [
      record(labels("a") + type, 16), record(labels("a") + type, 33, [0, 2]), record(type),
      record(labels("a", "_http", "_tcp", "local") + [0]), record([0]), record(labels("x", "a") + type),
    ] {
      #expect(answers(packet(answers: [other])).isEmpty)
      #expect(answers(packet(answers: [other, good])) == ["a"])
    }
    // Records of another section.
    var additional = packet(answers: [good])
    (additional[7], additional[11]) = (0, 1)
    #expect(answers(additional).isEmpty)
  }

  @Test("Pointers in a circle, too many of them, or out of the packet, and too long names end it") func pointers() {
    for name: [UInt8] in [
      [0xC0, 12], [0xC0, 14, 0xC0, 12], [0xFF, 0xFF], [1, 97, 0xC0, 12], [0x40, 12], [0x80, 12], [0xC0],
    ] { #expect(answers(packet(answers: [record(name)])).isEmpty) }
    // Each to the one before, in the data of another record, which begins at 23.
    for (count, found) in [(15, ["a"]), (16, [])] as [(Int, Set<String>)] {
      let data = labels("a") + type
      let chain = (0..<count).map { $0 == 0 ? 23 : 23 + data.count + 2 * ($0 - 1) }.flatMap {
        [UInt8](arrayLiteral: 0xC0, UInt8($0))
      }
      let whole = data + chain
      let other = [0, 0, 16, 0, 1, 0, 0, 0, 10, 0, UInt8(whole.count)] + whole
      let last = UInt8(23 + whole.count - 2)
      #expect(answers(packet(answers: [other, record([0xC0, last])])) == found)
    }
    let long = [[UInt8]](repeating: labels(String(repeating: "x", count: 60)), count: 5).joined() + [0]
    #expect(answers(packet(questions: [long + [0, 33, 0, 1]], answers: [record(labels("a") + type)])).isEmpty)
  }

  @Test("A packet that ends early has no answer, and garbage ends nothing") func garbage() {
    let whole = packet(answers: [record(labels("a") + type)])
    for count in 0..<whole.count { #expect(answers(Array(whole[..<count])).isEmpty) }
    #expect(answers(whole + [UInt8](repeating: 0, count: 9_000)).isEmpty)
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<(Soak.triesAll ? 20_000 : 2_000) {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        bytes[.random(in: 2..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      _ = answers(bytes)
      _ = answers((0..<64).map { _ in .random(in: 0...255, using: &generator) })
    }
  }
}

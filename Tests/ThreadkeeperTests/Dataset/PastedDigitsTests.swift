import Foundation
import TestKit
import Testing

@testable import Threadkeeper

@Suite("Pasted datasets", .timeLimit(.minutes(30))) struct PastedDigitsTests {
  @Test(
    "What comes along with digits is dropped",
    arguments: [
      "0e08AB", " 0e08AB\n", "0e 08\tAB", "0e08\r\nAB\r\n", "hex:0e08AB", "HEX: 0e08AB", "0x0e08AB", "0X0e08AB",
      "\"0e08AB\"", "'0x0e08AB'", "hex:\"0e08AB\"", "\u{201C}0e08AB\u{201D}", "\"0e08\"\n  \"AB\"", "0e08AB\0",
      "\u{FEFF}0e08AB", "\u{A0}0e08AB", "> 0e08AB", ">\n0e08AB", "> dataset active -x\r\n0e08AB\r\nDone\r\n> ",
      "> dataset active -x\n\n0e08AB\nDone", "> 0e08\n> AB\n> Done", "> sudo ot-ctl dataset active -x\n0e08AB\nDone\n",
    ]) func dropped(text: String)
  { #expect(PastedDigits.digits(in: text) == "0e08AB") }

  @Test(
    "What may be a mistake stays, so that it is said",
    arguments: [
      ("0e:08", "0e:08"), ("0x0x0e08", "0x0e08"), ("hex:0x0e08", "0x0e08"), ("0e080x", "0e080x"),
      ("Error 23: NotFound", "Error23:NotFound"), ("dataset active -x", "datasetactive-x"), ("0e08 Done", "0e08Done"),
      ("<0e08>", "<0e08>"), ("", ""), ("> \nDone", ""),
    ]) func kept(text: String, left: String)
  { #expect(PastedDigits.digits(in: text) == left) }

  @Test("A dataset is the same at the command line, in a file and on standard input") func everywhere() async throws {
    let pasted =
      "> dataset active -x\r\nhex:\"\(DatasetSamples.home.prefix(40)) \r\n"
      + "\(DatasetSamples.home.dropFirst(40))\"\r\nDone\r\n> "
    let directory = try TemporaryDirectory()
    try pasted.write(toFile: directory.file("dataset"), atomically: true, encoding: .utf8)
    let expected = try await decode(DatasetSamples.home)
    for (argument, input) in [
      (pasted, ThreadkeeperBinary.Input.nothing), ("@\(directory.file("dataset"))", .nothing), ("-", .text(pasted)),
    ] {
      let outcome = try await decode(argument, input: input)
      #expect(outcome.status == 0, "\(outcome.error)")
      #expect(outcome.output == expected.output)
    }
  }

  private func decode(_ argument: String, input: ThreadkeeperBinary.Input = .nothing) async throws
    -> ThreadkeeperBinary.Outcome
  { try await ThreadkeeperBinary.run(["dataset", "decode", argument], input: input) }
}

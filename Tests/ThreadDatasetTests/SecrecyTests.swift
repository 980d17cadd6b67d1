import Testing
import ThreadDataset

@Suite("Secrets stay inside") struct SecrecyTests {
  let dataset: OperationalDataset
  let secrets = ["eaf9149fdc7378770698d59180221958", "2eaae29484388e3119581a7b5a948c07"]

  init() throws { dataset = try Samples.vector("G4") }

  @Test("No description, no dump and no mirror of a dataset or a secret shows a byte") func descriptions() throws {
    let key = try #require(dataset.networkKey)
    let pskc = try #require(dataset.pskc)
    #expect("\(dataset)" == "<dataset, \(dataset.bytes.count) bytes>")
    #expect("\(key)" == "<16 bytes>")
    #expect("\(pskc)" == "<16 bytes>")
    let values: [Any] = [
      dataset, key, pskc, dataset.networkKey as Any, [dataset], ["key": key], DatasetComponent.networkKey(key),
      [DatasetComponent.pskc(pskc)], DatasetComponent.other(TLV(type: 5, value: key.bytes)), dataset.unknown,
      (dataset, key), try dataset.relation(to: Samples.vector("G1")),
    ]
    for value in values { expectNoSecret(in: texts(of: value)) }
  }

  @Test("No error shows a byte of a value") func errors() throws {
    let bytes = dataset.bytes
    for index in bytes.indices {
      for byte in [0x00, 0x05, 0x0F, 0x11, 0xFF] as [UInt8] {
        var changed = bytes
        changed[index] = byte
        do { try OperationalDataset(bytes: changed).requireComplete() } catch {
          expectNoSecret(in: texts(of: error) + error.message)
        }
      }
      do { try OperationalDataset(hex: dataset.hex.dropLast(index).description + "!").requireComplete() } catch {
        expectNoSecret(in: texts(of: error))
      }
    }
  }

  @Test("A secret is shown to who asks for it by name") func revealed() throws {
    let key = try #require(dataset.networkKey)
    #expect(key.revealedHex == secrets[0])
    #expect(key.withUnsafeBytes { $0.count } == 16)
    #expect(key.withUnsafeBytes { Array($0) } == key.bytes)
    #expect(dataset.pskc?.revealedHex == secrets[1])
  }

  private func texts(of value: Any) -> String {
    var dumped = ""
    dump(value, to: &dumped)
    return String(describing: value) + String(reflecting: value) + dumped + "\(value)"
  }

  /// Looks for eight digits of each secret anywhere in it, and for four bytes printed as numbers.
  private func expectNoSecret(in text: String) {
    let digits = text.lowercased()
    for secret in secrets {
      for start in 0...secret.count - 8 {
        let part = secret.dropFirst(start).prefix(8)
        #expect(!digits.contains(part), "shown: \(text)")
      }
    }
    let numbers = text.split { !$0.isNumber }.joined(separator: " ")
    #expect(!numbers.contains("234 249 20 159"), "shown: \(text)")
    #expect(!numbers.contains("46 170 226 148"), "shown: \(text)")
  }
}

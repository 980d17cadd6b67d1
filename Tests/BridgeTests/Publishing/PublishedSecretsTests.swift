// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

@Suite("Secrets in what is published")
struct PublishedSecretsTests {
  @Test("No payload holds a hash that stands for a key, in any form")
  func nothing() throws {
    var settings = PublisherSettings(BaseTopics([.init(name: "home", base: "tk")]))
    settings.discoveryPrefix = "ha"
    settings.requests.homeAssistant = .all
    settings.requests.homeAssistantLogin = "ha"
    let scene = PublisherScene(settings)
    scene.publisher.connected(sessionPresent: true)
    var secret = DatasetSummary.of(7)
    let values: [UInt64] = [
      0xDEAD_BEEF_0BAD_CAFE, 0xFEED_FACE_CAFE_F00D, 0xB16B_00B5_C0FF_EE11, 0x5EC2_E7C0_DE5E_C2E7,
      0xABAD_1DEA_DEC0_DED1, 0xC0DE_D00D_BAAD_F00D,
    ]
    secret.parameters?.networkKey = Hash128(high: values[0], low: values[1])
    secret.parameters?.pskc = Hash128(high: values[2], low: values[3])
    secret.parameters?.whole = Hash128(high: values[4], low: values[5])
    scene.commit { $0.publish(.announce, 1, secret) }
    scene.commit { $0.publish(.announce, 2, .of(8)) }
    secret.network = ExtendedPANID(number: 11)
    scene.commit { $0.share(secret) { $0.isPreferred = true } }
    scene.commit { $0.publish(.announce, 3, .of(7, key: 9, at: 5)) }
    scene.commit {
      $0.handle(
        .request(
          .getPreferred,
          .init(Requester(.login("phone"), team: "phone"), reply: .caller, actor: "a")))
    }
    scene.wait(40)
    scene.commit { $0.tick() }
    scene.tick()
    try scene.pump()
    #expect(scene.sent.count > 20)
    for publication in scene.sent {
      let text = String(decoding: publication.payload, as: UTF8.self).lowercased()
      for value in values {
        #expect(!text.contains(String(value, radix: 16)) && !text.contains(String(value)))
      }
    }
  }
}

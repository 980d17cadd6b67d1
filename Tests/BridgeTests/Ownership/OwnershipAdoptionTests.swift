// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("A transferred router adopts nothing through the login of its previous team")
struct OwnershipAdoptionTests {
  let scene: AdoptionScene

  init() throws { scene = try AdoptionScene() }

  @Test("A question that waits is withdrawn, and nothing is sent")
  func question() throws {
    try scene.raised()
    #expect(try scene.waiting().count == 1)
    try scene.bridge.transfer(AdoptionScene.router, to: "bert")
    #expect(try scene.waiting().isEmpty)
    for _ in 1...3 { try scene.bridge.pass(30) }
    #expect(try scene.waiting().isEmpty, "a question about a login without keys")
    #expect(try scene.bridge.router(AdoptionScene.router)?.user == "bert")
    #expect(scene.bridge.delivered.isEmpty)
  }

  @Test("What was approved and not sent yet is not sent")
  func approved() throws {
    try scene.raised()
    try scene.approve()
    try scene.bridge.transfer(AdoptionScene.router, to: "bert")
    for _ in 1...3 { try scene.bridge.pass(30) }
    #expect(scene.bridge.delivered.isEmpty)
    #expect(try scene.given().isEmpty)
    #expect(try scene.adoption == nil)
  }

  @Test("Release and removal withdraw the question too")
  func withdrawn() throws {
    try scene.raised()
    try scene.bridge.release(AdoptionScene.router)
    #expect(try scene.waiting().isEmpty)
    #expect(try scene.adoption == nil)
    let other = try AdoptionScene()
    try other.raised()
    try other.bridge.remove(AdoptionScene.router)
    #expect(try other.waiting().isEmpty)
    #expect(try other.adoption == nil)
  }
}

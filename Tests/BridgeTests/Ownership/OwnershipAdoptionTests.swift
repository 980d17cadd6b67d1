// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("A removed router adopts nothing")
struct OwnershipAdoptionTests {
  let scene: AdoptionScene

  init() throws { scene = try AdoptionScene() }

  @Test("What was approved and not sent yet is not sent")
  func approved() throws {
    try scene.raised()
    try scene.approve()
    try scene.bridge.remove(AdoptionScene.router)
    for _ in 1...3 { try scene.bridge.pass(30) }
    #expect(scene.bridge.delivered.isEmpty)
    #expect(try scene.given().isEmpty)
    #expect(try scene.adoption == nil)
  }

  @Test("A question that waits is withdrawn, and nothing is sent")
  func withdrawn() throws {
    try scene.raised()
    #expect(try scene.waiting().count == 1)
    try scene.bridge.remove(AdoptionScene.router)
    #expect(try scene.waiting().isEmpty)
    for _ in 1...3 { try scene.bridge.pass(30) }
    #expect(try scene.waiting().isEmpty)
    #expect(try scene.adoption == nil)
    #expect(scene.bridge.delivered.isEmpty)
  }
}

import { after, afterEach, before, describe } from 'node:test';
import { testDeliveries } from '../test/delivery-tests.ts';
import { testFailures } from '../test/failure-tests.ts';
import { testMessages } from '../test/message-tests.ts';
import { testReplicas } from '../test/replica-tests.ts';
import { skip } from '../test/test-webhooks.ts';
import { startFixture, type WebhooksFixture } from '../test/webhooks-fixture.ts';

describe('the webhooks service', { skip }, () => {
  let started: WebhooksFixture | undefined;
  const fixture = (): WebhooksFixture => {
    if (!started) throw new Error('the fixture has not started');
    return started;
  };

  before(async () => {
    started = await startFixture();
  });
  after(() => started?.stack.stop());
  afterEach(() => fixture().clear());

  testDeliveries(fixture);
  testFailures(fixture);
  testMessages(fixture);
  testReplicas(fixture);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '@recordbus/errors';
import { fcm, onesignal, startNotifier } from './test-providers.ts';

const message = { title: 'Hello', body: 'from the bus' };

describe('choosing the provider [notifications §2.2]', () => {
  const rows: [string, Record<string, string>, 'onesignal' | 'fcm' | undefined, string][] = [
    ['none is enabled', {}, undefined, 'no provider is enabled'],
    ['the named one is not enabled', onesignal, 'fcm', 'fcm is not enabled'],
    [
      'the enabled one has no key',
      { ...onesignal, 'notifications.providers.onesignal.api_key': '' },
      undefined,
      'no provider is enabled',
    ],
    [
      'both are enabled and none is named',
      { ...onesignal, ...fcm },
      undefined,
      'is required while more than one is enabled',
    ],
  ];
  for (const [what, settings, provider, problem] of rows)
    it(`is refused when ${what}`, async () => {
      const { notifier } = startNotifier(settings, {});
      const sending = notifier.send({ to: 'a', ...message, ...(provider && { provider }) });
      await assert.rejects(sending, (error) => {
        assert.ok(error instanceof AppError);
        assert.deepEqual(error.details, { provider: problem });
        return error.status === 422;
      });
    });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '@recordbus/shared/errors';
import { beside, fcm, onesignal } from './test-providers.ts';

const message = { title: 'Hello', body: 'from the bus' };

describe('which provider sends', () => {
  const rows: [string, Record<string, string>, 'onesignal' | 'fcm' | undefined, string][] = [
    ['none is enabled', {}, undefined, 'no provider is enabled'],
    ['the one asked for is not', onesignal, 'fcm', 'fcm is not enabled'],
    [
      'it lacks its key',
      { ...onesignal, 'notifications.providers.onesignal.api_key': '' },
      undefined,
      'no provider is enabled',
    ],
    ['both are and none is named', { ...onesignal, ...fcm }, undefined, 'is required while more than one is enabled'],
  ];
  for (const [what, settings, provider, problem] of rows)
    it(`is refused when ${what}`, async () => {
      const { notifier } = beside(settings, {});
      const sending = notifier.send({ to: 'a', ...message, ...(provider && { provider }) });
      await assert.rejects(sending, (error) => {
        assert.ok(error instanceof AppError);
        assert.deepEqual(error.details, { provider: problem });
        return error.status === 422;
      });
    });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError, databaseUrl, jwtSecret, loadConfig, natsUrl, port } from './config.ts';

const problem = (variables: Parameters<typeof loadConfig>[0], environment: Record<string, string>): string => {
  try {
    loadConfig(variables, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return assert.fail('the configuration was accepted');
};

describe('configuration', () => {
  it('reads values and fills in defaults', () => {
    assert.deepEqual(loadConfig({ port }, { SERVICE_PORT: '9000' }), { port: 9000 });
    assert.deepEqual(loadConfig({ port, jwtSecret }, {}), { port: 8080, jwtSecret: undefined });
  });

  it('treats an empty variable as absent', () =>
    assert.deepEqual(loadConfig({ port }, { SERVICE_PORT: '' }), { port: 8080 }));

  for (const [value, expected] of [
    ['80a', 'SERVICE_PORT must be a whole number from 0 to 65535.'],
    ['65536', 'SERVICE_PORT must be a whole number from 0 to 65535.'],
    ['-1', 'SERVICE_PORT must be a whole number from 0 to 65535.'],
  ] as const) {
    it(`refuses the port ${value}`, () => assert.equal(problem({ port }, { SERVICE_PORT: value }), expected));
  }

  it('names every invalid variable, not only the first', () => {
    const message = problem(
      { port, databaseUrl, natsUrl, jwtSecret },
      { SERVICE_PORT: 'x', SERVICE_NATS_URL: 'http://bus', SERVICE_JWT_SECRET: 'short' },
    );
    assert.deepEqual(
      message.split('\n').map((line) => line.split(' ')[0]),
      ['SERVICE_PORT', 'SERVICE_DATABASE_URL', 'SERVICE_NATS_URL', 'SERVICE_JWT_SECRET'],
    );
    assert.match(message, /SERVICE_DATABASE_URL must be set/);
    assert.match(message, /SERVICE_JWT_SECRET must have at least 32 characters/);
  });

  it('accepts several bus servers', () =>
    assert.equal(
      loadConfig({ natsUrl }, { SERVICE_NATS_URL: 'nats://a:4222, tls://b:4222' }).natsUrl,
      'nats://a:4222, tls://b:4222',
    ));
});

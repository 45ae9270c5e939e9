import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examineTokenSecret, judgeRoom } from './examine-machine.ts';

const gibibyte = 1024 ** 3;
const judge = (freeGib: number, totalGib: number, minFreeGib = 0) =>
  judgeRoom({ freeBytes: freeGib * gibibyte, totalBytes: totalGib * gibibyte }, minFreeGib, '/data');

test('a disk is broken below a hundredth, and a warning below a tenth that is less than 20 GiB', () => {
  assert.deepEqual(
    [judge(0.9, 100), judge(9, 100), judge(11, 100), judge(30, 1000)].map(({ verdict }) => verdict),
    ['broken', 'warning', 'ok', 'ok'],
  );
  assert.equal(judge(9, 100).says, '9.0 GiB (9 %) free at /data');
});

test('less free space than requested is broken on any disk', () => {
  assert.deepEqual([judge(30, 1000, 31).verdict, judge(30, 1000, 30).verdict], ['broken', 'ok']);
});

test('a file system that does not report its size is skipped', () => {
  assert.equal(judge(0, 0, 5).verdict, 'skipped');
});

test('a secret that the first start will make is no finding', async () => {
  const [finding] = await examineTokenSecret({ jwtSecret: undefined, dataDirectory: '/nowhere' } as never);
  const says = 'neither SERVICE_JWT_SECRET nor /nowhere/jwt_secret exists; the first start creates the file';
  assert.deepEqual([finding?.verdict, finding?.says], ['skipped', says]);
});

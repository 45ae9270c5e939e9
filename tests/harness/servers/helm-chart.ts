import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import type { JsonObject } from '../json.ts';
import { repository } from '../stacks/stack.ts';

/** The chart's folder. */
export const chart = join(repository, 'infra/helm/recordbus');

/** The chart's values, as it has them by default. */
export const chartValues: JsonObject = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));

/** Values that name the operator's servers. */
export const operatorServers = ['secret.databaseUrl=postgres://one/db', 'secret.natsUrl=nats://one:4222'];

/** Helm on PATH, or where `go install` puts it. */
const helm = ['helm', join(homedir(), 'go/bin/helm')].find((path) => spawnSync(path, ['version']).status === 0);

/** Says why the chart cannot be rendered; false if it can. */
export const missingHelm: string | false = helm === undefined && 'needs helm on PATH';

interface HelmOutput {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs helm. */
export const runHelm = (...args: readonly string[]): HelmOutput =>
  spawnSync(helm ?? 'helm', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });

/** Runs `helm template` with values for a Kubernetes version. */
export const runTemplate = (set: readonly string[], release = 'recordbus', kubeVersion = '1.31.0'): HelmOutput =>
  runHelm('template', release, chart, '--kube-version', kubeVersion, ...set.flatMap((one) => ['--set', one]));

/** Renders the chart's manifests. */
export function renderChart(set: readonly string[], release?: string): JsonObject[] {
  const { status, stdout, stderr } = runTemplate(set, release);
  assert.equal(status, 0, stderr);
  return parseAllDocuments(stdout)
    .map((document): JsonObject | null => document.toJS())
    .filter((manifest) => manifest !== null);
}

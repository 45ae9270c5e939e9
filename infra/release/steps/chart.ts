import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from '../../pack/npm-pack.ts';
import type { Step, StepReport } from '../make-release.ts';
import { findProgram } from '../programs.ts';

const chart = join(root, 'infra/helm/recordbus');
const ownServers = ['--set', 'postgresql.enabled=true', '--set', 'nats.enabled=true'];

/** Checks and packs the Helm chart. */
export function makeChart({ version, target }: Step): StepReport {
  const helm = findProgram('helm', ['version']);
  if (helm === undefined) return { checked: [], leftOut: 'the chart: there is no helm on PATH.' };
  run(helm, ['lint', '--strict', chart, ...ownServers], root);
  // A helm that Go built has no Kubernetes version of its own.
  run(helm, ['template', 'recordbus', chart, '--kube-version', '1.31.0', ...ownServers], root);
  run(helm, ['package', chart, '--destination', join(target, 'chart')], root);
  // npm's package has the same name.
  const file = `recordbus-chart-${version}.tgz`;
  renameSync(join(target, 'chart', `recordbus-${version}.tgz`), join(target, file));
  run('rmdir', [join(target, 'chart')], root);
  return { checked: [`${file}: helm lint, helm template`] };
}

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { root, run } from '../../pack/npm-pack.ts';
import type { Step, StepReport } from '../make-release.ts';
import { answerOf } from '../programs.ts';
import { readOciImage } from './oci-image.ts';
import { untilReady } from './until-ready.ts';

const startTimeoutMs = 180_000;
const platforms = ['linux/amd64', 'linux/arm64'];
const provenance = 'https://slsa.dev/provenance/';
const sbom = 'https://spdx.dev/Document';

/**
 * Builds the image, starts the whole stack in one container of it, and saves it: for both processors with an SBOM and
 * provenance where the builder can, else for this machine's.
 */
export async function makeImage({ version, target }: Step): Promise<StepReport> {
  if (answerOf('docker', ['version']) === undefined)
    return { checked: [], leftOut: 'the image: Docker does not answer.' };
  const image = `recordbus:${version}`;
  const recipe = [
    '-f',
    join(root, 'infra/docker/Dockerfile'),
    '--label',
    `org.opencontainers.image.version=${version}`,
  ];
  const reports: StepReport[] = [];
  if (buildsForOthers()) {
    docker(['buildx', 'build', ...recipe, '--load', '-t', image, root]);
    reports.push(buildForAll(recipe, join(target, `recordbus-image-${version}.oci.tar`)));
  } else {
    // RELEASE_BUILD_NETWORK=host, where containers reach npm only through the host's network.
    docker(['build', ...recipe, '--network', process.env.RELEASE_BUILD_NETWORK ?? 'default', '-t', image, root]);
    await save(image, join(target, `recordbus-image-${version}-${process.arch}.tar.gz`));
    const leftOut = `the image for other processors than ${process.arch}, its SBOM and provenance: docker buildx has no builder that makes them.`;
    reports.push({ checked: [], leftOut });
  }
  const startedInMs = await startImage(image, version);
  const sizeMb = Math.round(Number(answerOf('docker', ['image', 'inspect', '-f', '{{.Size}}', image])) / 1e6);
  const leftOut = reports.flatMap((report) => report.leftOut ?? []).join(' ');
  return {
    checked: [
      `${image}: ${sizeMb} MB, non-root`,
      `one container runs the whole stack, ready in ${(startedInMs / 1000).toFixed(1)} s, and stops with exit code 0`,
      ...reports.flatMap(({ checked }) => checked),
    ],
    ...(leftOut !== '' && { leftOut }),
  };
}

/** Whether buildx has a builder that writes images for several processors: every one but the engine's older store. */
function buildsForOthers(): boolean {
  const builder = answerOf('docker', ['buildx', 'inspect']);
  if (builder === undefined) return false;
  if (!/^Driver:\s+docker$/m.test(builder)) return true;
  return answerOf('docker', ['info', '-f', '{{.DriverStatus}}'])?.includes('io.containerd.snapshotter') ?? false;
}

/** Builds the image for every platform into an OCI archive, and checks what the archive has. */
function buildForAll(recipe: readonly string[], file: string): StepReport {
  const output = ['--platform', platforms.join(), '--provenance=mode=max', '--output', `type=oci,dest=${file}`];
  const build = (options: readonly string[]) => docker(['buildx', 'build', ...recipe, ...output, ...options, root]);
  let leftOut: string | undefined;
  try {
    build(['--sbom=true']);
  } catch (error) {
    if (!String(error).includes('buildkit-syft-scanner')) throw error;
    build([]);
    leftOut = "the image's SBOM: the builder cannot load docker/buildkit-syft-scanner.";
  }
  const attestations = leftOut === undefined ? [provenance, sbom] : [provenance];
  const images = readOciImage(file);
  const built = images.map(({ platform }) => platform).sort();
  if (built.join() !== platforms.join()) throw new Error(`${file} is for ${built.join()}, not ${platforms.join()}.`);
  for (const { platform, attestations: found, foreign } of images) {
    if (foreign.length > 0) throw new Error(`${platform} has programs for another processor: ${foreign.join(', ')}`);
    const missing = attestations.filter((type) => !found.some((one) => one.startsWith(type)));
    if (missing.length > 0) throw new Error(`${platform} lacks ${missing.join(', ')}.`);
  }
  const programs = images.map((image) => `${image.platform} (${image.programs} programs and libraries, none foreign)`);
  return {
    checked: [`${programs.join(' and ')}, attested: ${attestations.join(', ')}`],
    ...(leftOut !== undefined && { leftOut }),
  };
}

/** Starts the image with SERVICE_ALL_IN_ONE=1 and stops it. Returns after how many milliseconds it answered. */
async function startImage(image: string, version: string): Promise<number> {
  const user = answerOf('docker', ['image', 'inspect', '-f', '{{.Config.User}}', image]);
  if (user === undefined || user === '' || user === 'root') throw new Error(`${image} runs as root.`);
  const startedAtMs = performance.now();
  const options = ['--detach', '--env', 'SERVICE_ALL_IN_ONE=1', '--publish', '127.0.0.1::8080'];
  const id = run('docker', ['run', ...options, image], root).trim();
  try {
    const address = answerOf('docker', ['port', id, '8080/tcp'])?.split('\n')[0];
    await untilReady({
      url: () => `http://${address}`,
      version,
      timeoutMs: startTimeoutMs,
      hasEnded: () => answerOf('docker', ['inspect', '-f', '{{.State.Running}}', id]) !== 'true',
    });
    const startedInMs = performance.now() - startedAtMs;
    run('docker', ['stop', '-t', '60', id], root);
    const code = answerOf('docker', ['inspect', '-f', '{{.State.ExitCode}}', id]);
    if (code !== '0') throw new Error(`The container ended with exit code ${code}.`);
    return startedInMs;
  } catch (error) {
    spawnSync('docker', ['logs', '--tail', '40', id], { stdio: ['ignore', 'inherit', 'inherit'] });
    throw error;
  } finally {
    run('docker', ['rm', '--force', '--volumes', id], root);
  }
}

/** Writes an image as `docker load` reads it. */
async function save(image: string, file: string): Promise<void> {
  const child = spawn('docker', ['save', image], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await pipeline(child.stdout, createGzip({ level: 1 }), createWriteStream(file));
  const [code] = await exited;
  if (code !== 0) throw new Error(`docker save ended with exit code ${code}.`);
}

function docker(args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync('docker', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`docker ${args[0]} failed:\n${stdout.slice(-4000)}${stderr.slice(-4000)}`);
}

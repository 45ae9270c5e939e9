import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What an image for one platform has. */
export interface PlatformImage {
  /** As `linux/arm64`. */
  readonly platform: string;
  /** The predicate types attested for it, such as `https://spdx.dev/Document`. */
  readonly attestations: readonly string[];
  /** How many programs and libraries (ELF files) it has. */
  readonly programs: number;
  /** Those for another processor, as paths in the image. */
  readonly foreign: readonly string[];
}

interface Descriptor {
  readonly digest: string;
  readonly platform?: { readonly os: string; readonly architecture: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Processors as ELF files name them (e_machine). */
const machines: Readonly<Record<string, number>> = { amd64: 0x3e, arm64: 0xb7 };

/** Reads an OCI image archive as buildx writes it: each platform's attestations and programs. */
export function readOciImage(archive: string): PlatformImage[] {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-oci-'));
  try {
    execFileSync('tar', ['-xf', archive, '-C', directory]);
    const read = (file: string) => JSON.parse(readFileSync(join(directory, file), 'utf8'));
    const blob = (digest: string) => join('blobs', digest.replace(':', '/'));
    const index: Descriptor[] = read('index.json').manifests;
    // The archive's index names one image: itself an index where there are several platforms.
    const images = index.flatMap((image): Descriptor[] => read(blob(image.digest)).manifests ?? [image]);
    return images.flatMap((image) => {
      if (image.platform === undefined || image.platform.os === 'unknown') return [];
      const attested = images.filter(
        ({ annotations }) => annotations?.['vnd.docker.reference.digest'] === image.digest,
      );
      const layersOf = ({ digest }: Descriptor): Descriptor[] => read(blob(digest)).layers;
      const programs = layersOf(image).flatMap(({ digest }) => programsInLayer(join(directory, blob(digest))));
      const machine = machines[image.platform.architecture];
      return [
        {
          platform: `${image.platform.os}/${image.platform.architecture}`,
          attestations: attested
            .flatMap(layersOf)
            .flatMap(({ annotations }) => annotations?.['in-toto.io/predicate-type'] ?? []),
          programs: programs.length,
          foreign: programs.filter((program) => program.machine !== machine).map(({ path }) => path),
        },
      ];
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Program {
  readonly path: string;
  readonly machine: number;
}

/** Unpacks a layer alone: no link in an earlier one can lead out of the folder. */
function programsInLayer(layer: string): Program[] {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-layer-'));
  try {
    execFileSync('tar', ['-xf', layer, '-C', directory, '--no-same-owner']);
    return programsIn(directory, '/');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Node's own recursion follows links, such as an image's `/var/run` to this machine's `/run`. */
function programsIn(directory: string, path: string): Program[] {
  return readdirSync(join(directory, path), { withFileTypes: true }).flatMap((entry) => {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) return programsIn(directory, inside);
    if (!entry.isFile()) return [];
    const head = headOf(join(directory, inside));
    return head.readUInt32BE(0) === 0x7f454c46 ? [{ path: inside, machine: head.readUInt16LE(18) }] : [];
  });
}

/** A file's first 20 bytes, filled up with zeros. */
function headOf(path: string): Buffer {
  const head = Buffer.alloc(20);
  const file = openSync(path, 'r');
  try {
    readSync(file, head);
  } finally {
    closeSync(file);
  }
  return head;
}

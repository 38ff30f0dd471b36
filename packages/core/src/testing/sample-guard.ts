import type { AccessRequest, Guard } from '../engine/guard.js';
import type { EntryKind } from '../entry.js';
import { FsError } from '../errors.js';
import { isWithin } from '../paths.js';

/** A part of a filesystem with the allowed access. */
export interface Area {
  readonly root: string;
  readonly read: boolean;
  readonly write: boolean;
  readonly suffixes?: readonly string[];
  readonly maxFileBytes?: number;
}

/** The error that {@link SampleGuard} throws. */
export class Refused extends FsError {
  override readonly name = 'Refused';
  constructor(readonly request: AccessRequest) {
    super('EACCES', { syscall: request.syscall, path: request.given, hint: 'The policy refuses it' });
  }
}

/** A policy of areas for tests: outside all areas, only the directories on the way are visible. */
export class SampleGuard implements Guard {
  readonly asked: AccessRequest[] = [];

  constructor(public areas: readonly Area[]) {}

  check(request: AccessRequest): void {
    this.asked.push(request);
    const { path, access, kind, size } = request;
    const area = this.#areaOf(path);
    const allowed =
      area === undefined
        ? kind !== 'file' && this.#isWay(path) && (access === 'look' || access === 'read')
        : this.#allows(area, access) && hasSuffix(area, path, kind) && !isTooLarge(area, access, size);
    if (!allowed) throw new Refused(request);
  }

  isVisible(path: string, kind: EntryKind | undefined): boolean {
    const area = this.#areaOf(path);
    if (area === undefined) return this.#isWay(path);
    return area.read ? hasSuffix(area, path, kind ?? 'file') : path === area.root;
  }

  #areaOf(path: string): Area | undefined {
    return this.areas.find(({ root }) => isWithin(path, root));
  }

  #isWay(path: string): boolean {
    return this.areas.some(({ root }) => isWithin(root, path));
  }

  #allows(area: Area, access: AccessRequest['access']): boolean {
    return access === 'look' || access === 'read' ? area.read : area.write;
  }
}

function hasSuffix({ suffixes }: Area, path: string, kind: EntryKind | undefined): boolean {
  return kind !== 'file' || suffixes === undefined || suffixes.some((suffix) => path.endsWith(suffix));
}

function isTooLarge({ maxFileBytes }: Area, access: AccessRequest['access'], size: number | undefined): boolean {
  return access === 'read' && maxFileBytes !== undefined && size !== undefined && size > maxFileBytes;
}

import type { RoadSettings } from '../contract/machine.ts';

/** Describes a machine whose settings have no `description`, for models and people. Host names and users are left out. */
export function describeRoad(road: RoadSettings): string {
  switch (road.kind) {
    case 'ssh':
      return 'a machine reached over ssh';
    case 'docker':
    case 'podman':
      return `a ${road.kind} container, ${road.image === undefined ? `named ${road.container}` : `image ${road.image}`}`;
    case 'devcontainer':
      return "the container of the project's devcontainer.json";
    case 'kubernetes':
      return `a Kubernetes pod, image ${road.image}`;
    case 'slurm':
      return `a Slurm allocation${road.partition === undefined ? '' : `, partition ${road.partition}`}`;
    case 'program':
      return 'another machine';
  }
}

"""A training loop: eager, compiled or replayed as a CUDA graph; in workers; under torch.profiler.

torch_loop.py eager|compile|graph STEPS [--profile] [--workers N]
With --profile it prints torch.profiler's own sums: {kernel: [microseconds, count]}.
"""

import argparse
import json

import torch


def make_step(kind):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 512)
    ).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.randn(256, 512, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=False)
        model(inputs).square().mean().backward()
        optimizer.step()

    if kind == "compile":
        return torch.compile(step)
    if kind != "graph":
        return step
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def run(kind, steps, profile):
    step = make_step(kind)
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    if not profile:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
        return
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profiler:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    sums = {}
    for event in profiler.events():
        name = event.name
        if event.device_type == torch.autograd.DeviceType.CUDA and not name.startswith(("Mem", "gpu")):
            microseconds, count = sums.get(name, (0, 0))
            sums[name] = (microseconds + event.time_range.elapsed_us(), count + 1)
    print(json.dumps(sums))
    for _ in range(steps):  # what comes after is ours again
        step()
    torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["eager", "compile", "graph"])
    parser.add_argument("steps", type=int)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--workers", type=int, default=0)
    options = parser.parse_args()
    if options.workers == 0:
        run(options.kind, options.steps, options.profile)
        return
    context = torch.multiprocessing.get_context("forkserver")
    arguments = (options.kind, options.steps, False)
    workers = [context.Process(target=run, args=arguments) for _ in range(options.workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0


if __name__ == "__main__":
    main()

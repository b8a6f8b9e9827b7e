# The lines of the bench on the BEAM, the same work with Elixir's means: `elixir beam.exs <line> <count> <rounds> <warm-ups>`.
#
# Prints one number: microseconds of the processor for one operation, of all threads and the best of the rounds after those
# that warm up, or the bytes that one process keeps.

defmodule Counter do
  use GenServer

  def init(_), do: {:ok, 0}
  def handle_call(:next, _from, state), do: {:reply, state + 1, state + 1}
  def handle_cast(:add, state), do: {:noreply, state + 1}

  def handle_cast({:done, to}, state) do
    send(to, :done)
    {:noreply, state}
  end
end

defmodule Meter do
  use GenServer

  def init({count, to}), do: {:ok, {count, to}}
  def handle_call({:watch, pid}, _from, {count, to}), do: {:reply, watch(count, pid), {count, to}}
  def handle_info(_message, {left, to}), do: {:noreply, {count(left, to), to}}

  defp count(1, to), do: send(to, :over) && 0
  defp count(left, _to), do: left - 1

  defp watch(0, _pid), do: :ok

  defp watch(left, pid) do
    Process.monitor(pid)
    watch(left - 1, pid)
  end
end

defmodule Bench do
  @burst 1_000
  @many 10_000
  @crowd 100_000

  def run(line, count, rounds, warm_ups) do
    costs = for _ <- 1..rounds, do: alone(fn -> cost(line, count) end)
    costs |> Enum.drop(warm_ups) |> Enum.min()
  end

  # Each round has a process of its own, whose heap and links end with it.
  defp alone(work) do
    measured = fn ->
      Process.flag(:trap_exit, true)
      exit({:cost, work.()})
    end

    {pid, ref} = spawn_monitor(measured)

    receive do
      {:DOWN, ^ref, :process, ^pid, {:cost, cost}} -> cost
      {:DOWN, ^ref, :process, ^pid, reason} -> exit(reason)
    end
  end

  defp cost(line, count) when line in ["waiting", "idle"] do
    before = :erlang.memory(:processes_used)
    pids = kept(line, count)
    cost = (:erlang.memory(:processes_used) - before) / count
    finish(pids)
    cost
  end

  defp cost(line, count) do
    made = ready(line, count)
    :erlang.statistics(:runtime)
    done = work(line, count, made)
    {_, milliseconds} = :erlang.statistics(:runtime)
    finish([made, done])
    milliseconds * 1_000 / count
  end

  defp kept("waiting", count), do: for(_ <- 1..count, do: spawn(fn -> receive(do: (:stop -> :ok)) end))
  defp kept("idle", count), do: servers(count)

  defp servers(count) do
    for _ <- 1..count do
      {:ok, pid} = GenServer.start_link(Counter, nil)
      pid
    end
  end

  defp ready("startAmong", _count), do: servers(@crowd)
  defp ready(line, _count) when line in ["call", "cast", "throughOne"], do: servers(1)
  defp ready("throughMany", _count), do: servers(@many)
  defp ready("stop", count), do: servers(count)

  defp ready("supervisedStart", _count) do
    {:ok, supervisor} = DynamicSupervisor.start_link(strategy: :one_for_one)
    [supervisor]
  end

  defp ready(line, count) when line in ["tick", "watch"] do
    {:ok, meter} = GenServer.start_link(Meter, {count, self()})
    [meter]
  end

  defp ready(line, _count) when line in ["lookup", "arrayLookup"] do
    name = :"names #{System.unique_integer()}"
    {:ok, registry} = Registry.start_link(keys: :unique, name: name)

    for index <- 0..999 do
      {:ok, _} = GenServer.start_link(Counter, nil, name: {:via, Registry, {name, key(line, index)}})
    end

    [registry]
  end

  defp ready(_line, _count), do: []

  defp work("spawn", count, _) do
    to = self()
    ended = :counters.new(1, [:atomics])
    spawn_all(count, ended, count, to)
    receive(do: (:over -> []))
  end

  defp work(line, count, _) when line in ["start", "startAmong"], do: start(count, [])

  defp work("call", count, [server]), do: call(count, server)

  defp work("cast", count, [server]) do
    for _ <- 1..div(count, @burst) do
      cast(@burst, server)
      GenServer.call(server, :next)
    end

    []
  end

  defp work("stop", _count, servers) do
    Enum.each(servers, &GenServer.stop/1)
    []
  end

  defp work("supervisedStart", count, [supervisor]) do
    spec = %{id: Counter, start: {GenServer, :start_link, [Counter, nil]}}

    for _ <- 1..count do
      {:ok, pid} = DynamicSupervisor.start_child(supervisor, spec)
      pid
    end
  end

  defp work("tick", count, [meter]) do
    tick(count, meter)
    receive(do: (:over -> []))
  end

  defp work("cancel", count, _) do
    timers = for _ <- 1..count, do: Process.send_after(self(), :tick, 60_000)
    Enum.each(timers, &Process.cancel_timer/1)
    []
  end

  defp work("watch", _count, [meter]) do
    pid = spawn(fn -> receive(do: (:stop -> :ok)) end)
    GenServer.call(meter, {:watch, pid}, :infinity)
    Process.exit(pid, :kill)
    receive(do: (:over -> []))
  end

  defp work(line, count, [registry]) when line in ["lookup", "arrayLookup"] do
    {:registered_name, name} = Process.info(registry, :registered_name)
    keys = List.to_tuple(for index <- 0..999, do: key(line, index))
    look_up(count, name, keys)
    []
  end

  defp work(line, count, servers) when line in ["throughOne", "throughMany"] do
    to = self()
    for _ <- 1..div(count, length(servers)), server <- servers, do: GenServer.cast(server, :add)
    for server <- servers, do: GenServer.cast(server, {:done, to})
    for _ <- servers, do: receive(do: (:done -> :ok))
    []
  end

  defp spawn_all(0, _ended, _count, _to), do: :ok

  defp spawn_all(left, ended, count, to) do
    spawn(fn ->
      :counters.add(ended, 1, 1)
      if :counters.get(ended, 1) == count, do: send(to, :over)
    end)

    spawn_all(left - 1, ended, count, to)
  end

  defp key("lookup", index), do: "key-#{index}"
  defp key("arrayLookup", index), do: {"room", index}

  defp tick(0, _meter), do: :ok

  defp tick(left, meter) do
    Process.send_after(meter, :tick, rem(left, 10))
    tick(left - 1, meter)
  end

  defp start(0, made), do: made

  defp start(left, made) do
    {:ok, pid} = GenServer.start(Counter, nil)
    start(left - 1, [pid | made])
  end

  defp call(0, _server), do: []

  defp call(left, server) do
    GenServer.call(server, :next)
    call(left - 1, server)
  end

  defp cast(0, _server), do: :ok

  defp cast(left, server) do
    GenServer.cast(server, :add)
    cast(left - 1, server)
  end

  defp look_up(0, _name, _keys), do: :ok

  defp look_up(left, name, keys) do
    pid = Registry.whereis_name({name, elem(keys, rem(left, 1_000))})
    true = is_pid(pid)
    look_up(left - 1, name, keys)
  end

  # Ends what a round made, and waits for it.
  defp finish(pids) do
    for pid <- List.flatten(pids) do
      Process.unlink(pid)
      ref = Process.monitor(pid)
      Process.exit(pid, :kill)
      receive(do: ({:DOWN, ^ref, _, _, _} -> :ok))
    end
  end
end

:logger.set_primary_config(:level, :none)
[line, count, rounds, warm_ups] = System.argv()
[count, rounds, warm_ups] = Enum.map([count, rounds, warm_ups], &String.to_integer/1)
IO.puts(Bench.run(line, count, rounds, warm_ups))

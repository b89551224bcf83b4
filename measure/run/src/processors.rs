//! What each processor told in the runs of a system, where several ran.

use super::job::Finished;
use pillion_measure_data::Processor;
use serde_json::Value;

/// The processors in the result of a run; none where one runs, or where no resource manager tells
/// of them.
pub fn of(result: &Value) -> Vec<Processor> {
    let all = result["processors"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().filter_map(|one| serde_json::from_value(one.clone()).ok()).collect()
}

/// The processors of a system, its runs added up.
pub fn told(system: &str, finished: &[Finished]) -> Vec<Processor> {
    let mut all: Vec<Processor> = Vec::new();
    let outputs = finished.iter().filter(|one| one.job.system == system).filter_map(|one| one.output.as_ref().ok());
    for one in outputs.flat_map(|output| of(&output.result)) {
        match all.iter_mut().find(|known| known.cpu == one.cpu) {
            Some(known) => known.add(&one),
            None => all.push(Processor { system: system.to_owned(), ..one }),
        }
    }
    all.sort_by_key(|one| one.cpu);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boot_options::Boot;
    use crate::job::Job;
    use crate::tool::RunOutput;
    use serde_json::json;

    fn counted(cpu: u32, max_ns: u64) -> Value {
        json!({ "cpu": cpu, "has": "both", "tasks": ["t"], "max_ns": max_ns, "overruns": 0, "timers": 10, "messages": 0,
                "calls": 0, "signals": 0, "flushes": 0, "devices": 0, "linux": 3 })
    }

    #[test]
    fn each_processor_is_told_once_for_each_system() {
        let finished = |system: &str, processors: Value| {
            let job = Job { system: system.into(), run: 0, boot: Boot::default(), plugin: None };
            let result = json!({ "processors": processors });
            Finished { job, output: Ok(RunOutput { result, ..RunOutput::default() }) }
        };
        let runs = [
            finished("four", json!([counted(1, 500), counted(0, 300)])),
            finished("one", json!([])),
            finished("four", json!([counted(0, 400)])),
        ];
        let all = told("four", &runs);
        let seen: Vec<_> = all.iter().map(|one| (one.cpu, one.max_ns, one.timers)).collect();
        assert_eq!(seen, [(0, Some(400), 20), (1, Some(500), 10)]);
        assert!(all.iter().all(|one| one.system == "four"));
        assert!(told("one", &runs).is_empty() && of(&Value::Null).is_empty());
    }
}

# What src/api/version.cpp tells. The commit is looked up in every build, into a file that changes only when it does.
set(commit_file ${PROJECT_BINARY_DIR}/generated/commit.hpp)
add_custom_target(mdpcosim_commit BYPRODUCTS ${commit_file} COMMENT "" VERBATIM
  COMMAND ${CMAKE_COMMAND} -Dsource=${PROJECT_SOURCE_DIR} -Dfile=${commit_file} -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake)
add_dependencies(mdpcosim_api_objects mdpcosim_commit)
set_source_files_properties(src/api/version.cpp PROPERTIES OBJECT_DEPENDS ${commit_file} SKIP_UNITY_BUILD_INCLUSION ON
  INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated COMPILE_DEFINITIONS
  "MDPCOSIM_VERSION=\"${PROJECT_VERSION}\";MDPCOSIM_SUNDIALS=\"${SUNDIALS_VERSION}\";MDPCOSIM_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\"")
